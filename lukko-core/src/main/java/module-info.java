/** Distributed locks: the contract, the engine and the fence. */
@SuppressWarnings("module") // the other modules are built after this one
module dev.lukko {
  requires static jdk.jfr;
  requires static org.jspecify;

  exports dev.lukko;
  exports dev.lukko.fencing;
  exports dev.lukko.lease to
      dev.lukko.postgres;
  exports dev.lukko.memory;
  exports dev.lukko.once to
      dev.lukko.mongodb,
      dev.lukko.redis;
  exports dev.lukko.redlock;
  exports dev.lukko.release to
      dev.lukko.jdbc,
      dev.lukko.mongodb,
      dev.lukko.redis.protocol,
      dev.lukko.testkit;
  exports dev.lukko.schedule;
  exports dev.lukko.spi;
  exports dev.lukko.text to
      dev.lukko.cli,
      dev.lukko.jdbc,
      dev.lukko.jedis,
      dev.lukko.mongodb,
      dev.lukko.postgres,
      dev.lukko.redis,
      dev.lukko.redis.protocol;
  exports dev.lukko.time;
}
