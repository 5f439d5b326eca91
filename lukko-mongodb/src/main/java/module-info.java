/** Lock nodes, fence and idempotency keys on MongoDB. */
module dev.lukko.mongodb {
  requires transitive dev.lukko;
  requires transitive org.mongodb.bson;
  requires transitive org.mongodb.driver.core;
  requires transitive org.mongodb.driver.sync.client;
  requires static org.jspecify;

  exports dev.lukko.mongodb;
}
