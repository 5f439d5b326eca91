/** The {@code lukko} command. */
module dev.lukko.cli {
  requires com.fasterxml.jackson.databind;
  requires dev.lukko;
  requires dev.lukko.jdbc;
  requires dev.lukko.jedis;
  requires dev.lukko.postgres;
  requires dev.lukko.redis;
  requires info.picocli;
  requires java.logging;
  requires java.management;
  requires java.sql;
  requires jdk.unsupported;
  // The demo alone needs it; the installed command does without.
  requires static dev.lukko.testkit;
  requires static org.jspecify;

  // picocli fills the fields of commands by reflection.
  opens dev.lukko.cli to
      info.picocli;
}
