package dev.lukko.jdbc;

import static dev.lukko.jdbc.JdbcNodeContract.entry;
import static dev.lukko.jdbc.JdbcNodeContract.now;
import static dev.lukko.jdbc.JdbcNodeContract.reader;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.lukko.fencing.KeyInProgressException;
import dev.lukko.fencing.RequestFingerprint;
import dev.lukko.fencing.StaleTokenException;
import dev.lukko.schedule.JobRun.Outcome;
import dev.lukko.schedule.LastRunStore.Decision;
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
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import javax.sql.DataSource;
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
    String url = behindThePooler(Databases.postgres());
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

  @Test
  void nothingThatFencesKeysAndLastRunsSetStaysOnTheServersSession() throws Exception {
    TestDatabase database = Databases.postgres();
    String url = behindThePooler(database);
    DataSource pooled = DriverDataSource.of(url);
    List<String> before = sessions(url);

    JdbcSchema.create(pooled);
    assertThat(sessions(url)).as("after the tables").isEqualTo(before);
    useTheFences(pooled);
    assertThat(sessions(url)).as("after the fences").isEqualTo(before);
    useTheKeys(database.source(), pooled);
    assertThat(sessions(url)).as("after the keys").isEqualTo(before);
    useTheStore(pooled);
    assertThat(sessions(url)).as("after the last runs").isEqualTo(before);
  }

  private static void useTheFences(DataSource pooled) throws SQLException {
    JdbcFence fence = JdbcFence.create();
    RowFence rows = RowFence.on("account", "fence", "id");
    try (Connection connection = pooled.getConnection()) {
      DialectTraits.execute(connection, "CREATE TABLE account (id int, fence bigint, n int)");
      DialectTraits.execute(connection, "INSERT INTO account VALUES (7, 0, 0)");
      DialectTraits.execute(connection, JdbcFence.triggerDdl("account", "fence"));
      fence.createTable(connection);
      connection.setAutoCommit(false);
      fence.check(connection, "r", 5);
      fence.touch(connection, "s", 5);
      assertThat(rows.update(connection, 5, List.of(7), "n = ?", 1)).isTrue();
      assertThat(rows.touch(connection, 5, List.of(7))).isTrue();
      connection.commit();
      assertThatThrownBy(() -> fence.check(connection, "r", 4))
          .isInstanceOf(StaleTokenException.class);
      connection.rollback();
      assertThatThrownBy(() -> rows.touch(connection, 4, List.of(7)))
          .isInstanceOf(StaleTokenException.class);
      connection.rollback();
    }
    fence.purge(pooled, Duration.ofDays(1));
  }

  /** Another client, beside the pooler, has the key that is waited for in vain. */
  private static void useTheKeys(DataSource beside, DataSource pooled) throws Exception {
    IdempotencyKeys keys = IdempotencyKeys.builder(pooled).maxWait(Duration.ofMillis(1)).build();
    RequestFingerprint request = RequestFingerprint.of("pay");
    keys.createTable();
    assertThat(keys.runOnce("done", request, connection -> "once")).isEqualTo("once");
    assertThat(keys.runOnce("done", request, connection -> "twice")).isEqualTo("once");
    assertThatThrownBy(
            () ->
                keys.runOnce(
                    "failed",
                    request,
                    connection -> {
                      throw new IOException("printer on fire");
                    }))
        .isInstanceOf(IOException.class);
    try (Connection busy = beside.getConnection();
        Connection own = pooled.getConnection()) {
      busy.setAutoCommit(false);
      keys.runOnce(busy, "busy", request, connection -> "theirs");
      own.setAutoCommit(false);
      assertThatThrownBy(() -> keys.runOnce(own, "busy", request, connection -> "ours"))
          .isInstanceOf(KeyInProgressException.class);
      own.commit();
      assertThatThrownBy(() -> keys.runOnce("busy", request, connection -> "ours"))
          .isInstanceOf(KeyInProgressException.class);
      busy.rollback();
    }
    keys.purge();
  }

  private static void useTheStore(DataSource pooled) throws SQLException {
    JdbcLastRunStore store = JdbcLastRunStore.over(pooled);
    store.createTables();
    Instant tick = store.now();
    assertThat(store.begin("job", tick, 1, "me", Set.of())).isEqualTo(Decision.BEGUN);
    assertThat(store.finish("job", tick, 1, Outcome.FAILED, Optional.of("no"))).isTrue();
    assertThat(store.begin("job", tick, 2, "me", Set.of())).isEqualTo(Decision.HAD_ITS_RUN);
    assertThat(store.history("job", 3)).hasSize(1);
    store.prune("job", tick);
  }

  /** The address of the pooler in front of a database that is serializable by default. */
  private String behindThePooler(TestDatabase database) throws Exception {
    File binary = binary();
    assumeTrue(binary != null, "no pgbouncer on this machine");
    try (Connection direct = database.source().getConnection()) {
      String name = direct.getCatalog();
      DialectTraits.execute(
          direct, "ALTER DATABASE " + name + " SET default_transaction_isolation = serializable");
      return start(binary, direct.getMetaData().getURL(), name);
    }
  }

  /** All that the server's session keeps for whoever gets it next, but what a library brings. */
  private static List<String> sessions(String url) throws SQLException {
    try (Connection connection = DriverDataSource.of(url).getConnection()) {
      return DialectTraits.texts(
          connection,
          "SELECT name || '=' || setting FROM pg_settings WHERE name <> 'application_name'"
              + " AND name NOT LIKE 'plpgsql.%'"
              + " UNION ALL SELECT 'listens to ' || c FROM pg_listening_channels() c"
              + " UNION ALL SELECT 'prepared ' || statement FROM pg_prepared_statements"
              + " UNION ALL SELECT 'cursor ' || name FROM pg_cursors WHERE name <> ''"
              + " UNION ALL SELECT 'advisory lock ' || classid || '/' || objid FROM pg_locks"
              + " WHERE pid = pg_backend_pid() AND locktype = 'advisory' ORDER BY 1");
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
