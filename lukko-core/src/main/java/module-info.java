/** Distributed locks: the contract, the engine and the fence. */
module dev.lukko {
  requires static jdk.jfr;
  requires static org.jspecify;

  exports dev.lukko;
  exports dev.lukko.fencing;
  exports dev.lukko.memory;
  exports dev.lukko.redlock;
  exports dev.lukko.schedule;
  exports dev.lukko.spi;
  exports dev.lukko.time;
}
