package dev.lukko.jdbc;

import static dev.lukko.jdbc.JdbcNodeContract.entry;
import static dev.lukko.jdbc.JdbcNodeContract.now;
import static dev.lukko.jdbc.JdbcNodeContract.reader;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.lukko.spi.GrantReply.Granted;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.ReleaseReply.Released;
import dev.lukko.testkit.SoleFleet;
import java.io.File;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A node behind a real PgBouncer in transaction mode; its one server session is everybody's. */
class PoolerTest {
  @TempDir Path directory;

  private Process pooler;

  @AfterEach
  void stop() throws InterruptedException {
    if (pooler != null) {
      pooler.destroy();
      pooler.waitFor();
    }
  }

  @Test
  void nothingThatTheNodeSetsStaysOnTheServersSession_alsoForADatabaseThatIsSerializable()
      throws Exception {
    File binary = binary();
    assumeTrue(binary != null, "no pgbouncer on this machine");
    TestDatabase database = Databases.postgres();
    String url;
    try (Connection direct = database.source().getConnection()) {
      String name = direct.getCatalog();
      DialectTraits.execute(
          direct, "ALTER DATABASE " + name + " SET default_transaction_isolation = serializable");
      url = start(binary, direct.getMetaData().getURL(), name);
    }
    List<String> before = sessions(url);

    JdbcNode node = JdbcNode.builder(url).name("n").requestTimeout(Duration.ofSeconds(30)).build();
    try (LockNode.Watch watch = node.watch("r", () -> {})) {
      assertThat(watch).isNotNull();
      assertThat(now(node.grant(new GrantRequest(entry("a", "r"), 60_000, 1))))
          .isInstanceOf(Granted.class);
      assertThat(now(node.grant(new GrantRequest(entry("a", "s", "t"), 60_000, 1))))
          .isInstanceOf(Granted.class);
      assertThat(now(node.grant(new GrantRequest(reader("a", "u"), 60_000, 1))))
          .isInstanceOf(Granted.class);
      assertThat(SoleFleet.admit(node).state()).isEqualTo(NodeStatus.State.VOTING);
      assertThat(now(node.inspect("r")).holders()).hasSize(1);
      assertThat(now(node.release(entry("a", "r")))).isEqualTo(new Released());
      assertThat(sessions(url)).as("while it works").isEqualTo(before);
    } finally {
      node.close();
    }
    assertThat(sessions(url)).isEqualTo(before);
  }

  /** The settings of the server's session, and what it listens to. */
  private static List<String> sessions(String url) throws SQLException {
    try (Connection connection = DriverDataSource.of(url).getConnection()) {
      return DialectTraits.texts(
          connection,
          "SELECT name || '=' || setting FROM pg_settings WHERE name <> 'application_name'"
              + " UNION ALL SELECT 'listens to ' || c FROM pg_listening_channels() c ORDER BY 1");
    }
  }

  private static File binary() {
    return Stream.concat(
            Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator)),
            Stream.of("/usr/sbin"))
        .map(folder -> new File(folder, "pgbouncer"))
        .filter(File::canExecute)
        .findFirst()
        .orElse(null);
  }

  private String start(File binary, String direct, String name) throws IOException {
    String serverPort = direct.replaceFirst(".*:(\\d+)/.*", "$1");
    int port = freePort();
    Path users = Files.writeString(directory.resolve("users.txt"), "\"postgres\" \"\"\n");
    Path settings = directory.resolve("pgbouncer.ini");
    Files.writeString(
        settings,
        String.join(
            "\n",
            "[databases]",
            "* = host=127.0.0.1 port=" + serverPort + " user=postgres",
            "[pgbouncer]",
            "listen_addr = 127.0.0.1",
            "listen_port = " + port,
            "unix_socket_dir =",
            "auth_type = any",
            "auth_file = " + users,
            "pool_mode = transaction",
            "default_pool_size = 1",
            "ignore_startup_parameters = extra_float_digits",
            ""));
    assertThat(directory.toFile().setExecutable(true, false)).isTrue();
    assertThat(directory.toFile().setReadable(true, false)).isTrue();
    List<String> command = new ArrayList<>(List.of(binary.getPath()));
    if ("root".equals(System.getProperty("user.name"))) {
      command.addAll(List.of("-u", "nobody")); // It refuses to run as root.
    }
    command.add(settings.toString());
    pooler =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    String url =
        "jdbc:postgresql://127.0.0.1:" + port + "/" + name + "?user=postgres&prepareThreshold=0";
    await()
        .ignoreExceptions()
        .until(
            () -> {
              try (Connection connection = DriverDataSource.of(url).getConnection()) {
                return connection.isValid(5);
              }
            });
    return url;
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }
}
