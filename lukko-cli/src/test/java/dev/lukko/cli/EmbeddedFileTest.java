package dev.lukko.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Locks without nodes: in a file, whose directory only Linux lets a variable name. */
@EnabledOnOs(OS.LINUX)
class EmbeddedFileTest {

  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  @TempDir Path directory;
  private Map<String, String> environment;
  private Path file;

  @BeforeEach
  void nameFile() {
    environment = Map.of("XDG_STATE_HOME", directory.resolve("state").toString());
    file = directory.resolve("state").resolve("lukko").resolve("locks.db");
  }

  @Test
  void aProcessThatHoldsTheLockKeepsAnotherOneOut() throws InterruptedException {
    Gate gate = new Gate(directory, "holder");
    Path ran = directory.resolve("ran");
    try (ChildJvm holder = start("run", "nightly", "--", "sh", "-c", gate.script())) {
      gate.awaitReached();

      try (ChildJvm second = start("run", "nightly", "--", "touch", ran.toString())) {
        assertThat(second.exitCode()).isEqualTo(75);
        assertThat(second.err())
            .startsWith("lukko: lock 'nightly' is held by ")
            .containsPattern("lukko run sh since 20\\S+Z, for another \\d+\\.\\d s; did not wait")
            .contains("embedded:" + file)
            .containsOnlyOnce("\n");
      }
      assertThat(ran).doesNotExist();
      assertThat(run("another", "--", "true").exitCode()).isZero();
      gate.open();
      assertThat(holder.exitCode()).isZero();
      assertThat(holder.err()).isEmpty();
    }
    assertThat(run("nightly", "--", "touch", ran.toString()).exitCode()).isZero();
    assertThat(ran).exists();
  }

  @Test
  void aHolderThatWasKilledKeepsItsLockForItsTtlAndNoLonger() throws InterruptedException {
    Gate gate = new Gate(directory, "holder");
    ProcessHandle child;
    try (ChildJvm holder = start("run", "--ttl", "20s", "r", "--", "sh", "-c", gate.script())) {
      child = gate.awaitReached();
      holder.handle().destroyForcibly();
      assertThat(holder.exitCode()).isEqualTo(137);
    }
    child.destroyForcibly();

    assertThat(run("r", "--", "true").exitCode()).isEqualTo(75);
    assertThat(run("--wait", "1m", "r", "--", "true").exitCode()).isZero();
  }

  @Test
  void theTokenRisesFromRunToRun() throws IOException {
    Path tokens = directory.resolve("tokens");
    String script = "echo \"$LUKKO_FENCING_TOKEN\" >> " + tokens;
    for (int i = 0; i < 3; i++) {
      Invocation run = run("r", "--", "sh", "-c", script);
      assertThat(run.err()).isEmpty();
      assertThat(run.exitCode()).isZero();
    }

    List<Long> seen = Files.readAllLines(tokens).stream().map(Long::valueOf).toList();

    assertThat(seen).hasSize(3).doesNotHaveDuplicates().isSorted();
    assertThat(seen.get(0)).isPositive();
  }

  @Test
  void verboseNamesTheFile() {
    String expected = "lukko: locks are in the file " + file + ", for this user on this machine";

    assertThat(run("--verbose", "r", "--", "true").err())
        .startsWith(expected)
        .containsOnlyOnce("\n");
    assertThat(run("r", "-v", "--", "true").err()).startsWith(expected);
    assertThat(status("-v", "r").err()).startsWith(expected);
  }

  @Test
  void verboseNamesTheNodesWithoutTheirPasswords() {
    Invocation status = Invocation.of("status", "-v", "--node", "redis://:s3cret@127.0.0.1:1", "r");

    assertThat(status.err())
        .startsWith("lukko: locks are in the node redis://127.0.0.1:1\n")
        .doesNotContain("s3cret");
  }

  @Test
  void statusShowsTheHolder() throws InterruptedException {
    Gate gate = new Gate(directory, "holder");
    try (ChildJvm holder = start("run", "--ttl", "1m", "r", "--", "sh", "-c", gate.script())) {
      gate.awaitReached();

      Invocation status = status("r");

      assertThat(status.exitCode()).isZero();
      assertThat(status.err()).isEmpty();
      assertThat(status.out())
          .startsWith("no nodes are named (--node, LUKKO_NODES): this is the file ")
          .contains("r: held (1 of 1 nodes answered)\n")
          .containsPattern("holder +" + holder.handle().pid() + "@\\S+ lukko run sh ")
          .containsPattern("remaining +(\\d+\\.\\d s|1 min 0 s)\n")
          .containsPattern("token +\\d+\n")
          .containsPattern("node +embedded:" + file + " +held, ");
      gate.open();
      assertThat(holder.exitCode()).isZero();
    }
    await()
        .atMost(TIMEOUT)
        .untilAsserted(() -> assertThat(status("r").out()).contains("\nr: free"));
  }

  @Test
  void statusBeforeTheFirstLockCreatesNoFile() {
    Invocation status = status("r");

    assertThat(status.exitCode()).isZero();
    assertThat(status.out()).contains("\nr: free (1 of 1 nodes answered)\n");
    assertThat(directory.resolve("state")).doesNotExist();
  }

  @Test
  void aFileThatCannotBeMadeIsNamedAndTheCommandDoesNotRun() throws IOException {
    Files.writeString(directory.resolve("state"), "no directory");
    Path ran = directory.resolve("ran");

    Invocation run = run("r", "--", "touch", ran.toString());

    assertThat(run.exitCode()).isEqualTo(69);
    assertThat(run.err())
        .startsWith("lukko: the lock file " + file + " cannot be created (")
        .contains("set XDG_STATE_HOME")
        .containsOnlyOnce("\n");
    assertThat(ran).doesNotExist();
  }

  @Test
  void aFileThatIsNoDatabaseIsNamedAndTheCommandDoesNotRun() throws IOException {
    Files.createDirectories(file.getParent());
    Files.writeString(file, "this is no database, and long enough to be seen as none".repeat(40));
    Path ran = directory.resolve("ran");

    Invocation run = run("r", "--", "touch", ran.toString());

    assertThat(run.exitCode()).isEqualTo(69);
    assertThat(run.err()).contains(file.toString(), "not a database").containsOnlyOnce("\n");
    assertThat(ran).doesNotExist();
  }

  @Test
  void aRunDeletesOldNamesFromAFileThatHasGrown() throws Exception {
    assertThat(run("held-last", "--", "true").exitCode()).isZero();
    addOldNames(20_000);

    assertThat(run("another", "--", "true").exitCode()).isZero();

    assertThat(names()).containsExactly("another", "held-last");
  }

  @Test
  void purgeGivesTheSpaceBackAndKeepsTokensRising() throws Exception {
    Path token = directory.resolve("token");
    String script = "echo \"$LUKKO_FENCING_TOKEN\" > " + token;
    run("r", "--", "sh", "-c", script);
    long before = Long.parseLong(Files.readString(token).strip());
    addOldNames(20_000);
    long size = Files.size(file);

    Invocation purge = invoke("purge");

    assertThat(purge.exitCode()).as(purge.err()).isZero();
    assertThat(purge.out()).contains("deleted 20000 names; " + file + " had " + size + " bytes");
    assertThat(Files.size(file)).isLessThan(size / 4);
    run("r", "--", "sh", "-c", script);
    assertThat(Long.parseLong(Files.readString(token).strip())).isGreaterThan(before);
  }

  private void addOldNames(int count) throws SQLException {
    try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
        Statement statement = connection.createStatement()) {
      statement.execute(
          "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < "
              + count
              + ") INSERT INTO lukko_lock (name, owner, expires_at, ttl, counter, grant_counter)"
              + " SELECT 'old-name-of-a-job-that-nobody-runs-any-more-' || i, NULL, 1, 0, 1, 1 FROM n");
    }
  }

  private List<String> names() throws SQLException {
    List<String> names = new ArrayList<>();
    try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("SELECT name FROM lukko_lock ORDER BY name")) {
      while (rows.next()) {
        names.add(rows.getString(1));
      }
    }
    return names;
  }

  @Test
  void aVariableThatNamesNoNodeDoesNotFallBackToTheFile() {
    Map<String, String> blank = Map.of("LUKKO_NODES", " ", "XDG_STATE_HOME", "" + directory);

    Invocation run = Invocation.with(blank, "run", "r", "--", "true");

    assertThat(run.exitCode()).isEqualTo(64);
    assertThat(run.err()).startsWith("lukko: LUKKO_NODES is set, but names no node; ");
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void theFileNeedsNothingOfTheRedisDriver() throws InterruptedException {
    try (ChildJvm run =
        ChildJvm.startJava(
            directory, environment, List.of("-Xlog:class+load:stdout"), "run", "r", "--", "true")) {
      assertThat(run.exitCode()).isZero();
      assertThat(run.out())
          .contains("dev.lukko.jdbc.EmbeddedNode", "org.sqlite.JDBC")
          .doesNotContain("io.lettuce.", "io.netty.", "dev.lukko.redis.RedisNode");
    }
  }

  private ChildJvm start(String... args) {
    return ChildJvm.start(directory, environment, "", args);
  }

  private Invocation run(String... args) {
    return invoke("run", args);
  }

  private Invocation status(String... args) {
    return invoke("status", args);
  }

  private Invocation invoke(String command, String... args) {
    String[] all = new String[args.length + 1];
    all[0] = command;
    System.arraycopy(args, 0, all, 1, args.length);
    return Invocation.with(environment, all);
  }
}
