/** The {@code lukko} command. */
module dev.lukko.cli {
  requires com.fasterxml.jackson.databind;
  requires dev.lukko;
  requires dev.lukko.jdbc;
  requires dev.lukko.jedis;
  requires dev.lukko.redis;
  requires dev.lukko.testkit;
  requires info.picocli;
  requires java.logging;
  requires java.management;
  requires jdk.unsupported;
  requires static org.jspecify;

  // picocli fills the fields of commands by reflection.
  opens dev.lukko.cli to
      info.picocli;
}
