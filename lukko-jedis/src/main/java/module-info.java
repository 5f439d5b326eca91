/** Lock nodes on Redis and Valkey through the driver Jedis. */
module dev.lukko.jedis {
  requires transitive dev.lukko;
  requires transitive dev.lukko.redis.protocol;
  requires transitive redis.clients.jedis;
  requires static org.jspecify;

  exports dev.lukko.jedis;
}
