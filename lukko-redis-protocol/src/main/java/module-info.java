/** What lock nodes on Redis and Valkey have in common, whatever their driver. */
@SuppressWarnings("module") // the drivers' modules are built after this one
module dev.lukko.redis.protocol {
  requires transitive dev.lukko;
  requires static org.jspecify;

  exports dev.lukko.redis.format;
  exports dev.lukko.redis.protocol to
      dev.lukko.jedis,
      dev.lukko.redis;
}
