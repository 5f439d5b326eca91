/** Lock nodes and fence on Redis and Valkey. */
module dev.lukko.redis {
  requires transitive dev.lukko;
  requires lettuce.core;
  requires static org.jspecify;
}
