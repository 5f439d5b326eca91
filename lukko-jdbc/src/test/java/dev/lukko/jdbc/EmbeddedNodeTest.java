package dev.lukko.jdbc;

import static dev.lukko.jdbc.JdbcNodeContract.entry;
import static dev.lukko.jdbc.JdbcNodeContract.now;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lukko.Lease;
import dev.lukko.LockNotAcquiredException;
import dev.lukko.LockRequest;
import dev.lukko.redlock.Redlock;
import dev.lukko.spi.GrantReply.Granted;
import dev.lukko.spi.GrantRequest;
import java.io.File;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EmbeddedNodeTest {
  private static final int OK = 0;
  private static final int DIED = 7;

  @TempDir Path directory;

  private final List<Process> processes = new ArrayList<>();

  @AfterEach
  void endProcesses() {
    processes.forEach(process -> process.destroyForcibly());
  }

  private Process start(Path numbers, int times) throws Exception {
    ProcessBuilder builder =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-cp",
            System.getProperty("java.class.path"),
            EmbeddedContender.class.getName(),
            numbers.toString(),
            Integer.toString(times));
    builder.environment().put("XDG_STATE_HOME", directory.toString());
    File log = directory.resolve("log" + processes.size()).toFile();
    Process process = builder.redirectErrorStream(true).redirectOutput(log).start();
    processes.add(process);
    return process;
  }

  private void assertEnds(Process process, int code) throws Exception {
    assertThat(process.waitFor(100, TimeUnit.SECONDS)).isTrue();
    String log = Files.readString(directory.resolve("log" + processes.indexOf(process)));
    assertThat(process.exitValue()).as(log).isEqualTo(code);
  }

  private Path file() {
    return EmbeddedNode.stateDirectory(
            Map.of("XDG_STATE_HOME", directory.toString()), "Linux", directory)
        .resolve("locks.db");
  }

  @Test
  void severalProcesses_excludeEachOther_andTheirTokensRise() throws Exception {
    Path numbers = directory.resolve("numbers");
    Files.writeString(numbers, "0 0");
    for (int i = 0; i < 3; i++) {
      start(numbers, 15);
    }
    for (Process process : processes) {
      assertEnds(process, OK);
    }
    assertThat(Files.readString(numbers)).startsWith("45 ");
  }

  @Test
  void holderThatDies_blocksOthersForItsTtlOnly() throws Exception {
    Path numbers = directory.resolve("numbers");
    assertEnds(start(numbers, 0), DIED);
    long token = Long.parseLong(Files.readString(numbers));

    try (Redlock locks = Redlock.builder().node(EmbeddedNode.open(file())).retryForever().build()) {
      LockRequest request =
          LockRequest.builder("dies")
              .ttl(Duration.ofSeconds(20))
              .maxWait(Duration.ofSeconds(60))
              .build();
      try (Lease lease = locks.acquire(request)) {
        assertThat(lease.fencingToken()).isGreaterThan(token);
      }
    }
  }

  @Test
  void fileAndDirectory_areForTheUserAlone() throws Exception {
    Path file = directory.resolve("new").resolve("deep").resolve("locks.db");
    try (JdbcNode node = EmbeddedNode.open(file)) {
      assertThat(node.name()).isEqualTo("embedded:" + file);
      now(node.grant(new GrantRequest(entry("a", "r"), 60_000, 1)));
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
          .isEqualTo("rw-------");
      for (Path made : List.of(file.getParent(), file.getParent().getParent())) {
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(made)))
            .isEqualTo("rwx------");
      }
    }
  }

  @Test
  void countersAndEntries_surviveTheProcess() {
    Path file = directory.resolve("locks.db");
    try (JdbcNode node = EmbeddedNode.open(file)) {
      assertThat(now(node.grant(new GrantRequest(entry("a", "r"), 60_000, 41))))
          .isEqualTo(new Granted(41));
      now(node.release(entry("a", "r")));
      now(node.grant(new GrantRequest(entry("a", "held"), 60_000, 5)));
    }
    try (JdbcNode node = EmbeddedNode.open(file)) {
      assertThat(now(node.grant(new GrantRequest(entry("b", "r"), 60_000, 1))))
          .isEqualTo(new Granted(42));
      assertThat(now(node.grant(new GrantRequest(entry("a", "held"), 60_000, 9))))
          .isEqualTo(new Granted(5));
    }
  }

  @Test
  void fileOfTheFormerVersion_isUpgraded_andItsEntriesExclude() throws Exception {
    Path file = directory.resolve("former.db");
    LockRequest job =
        LockRequest.builder("job").ttl(Duration.ofMinutes(1)).maxWait(Duration.ZERO).build();
    Redlock holder = Redlock.builder().node(EmbeddedNode.open(file)).releaseOnClose(false).build();
    holder.acquire(job);
    holder.close();
    try (var connection = Databases.sqliteSource(file).getConnection()) {
      DialectTraits.execute(connection, "DROP TABLE lukko_fleet");
      DialectTraits.execute(connection, "UPDATE lukko_schema SET version = 2");
    }
    try (Redlock other = Redlock.over(EmbeddedNode.open(file))) {
      assertThatThrownBy(() -> other.acquire(job)).isInstanceOf(LockNotAcquiredException.class);
      Lease free = other.acquire("other", Duration.ofMinutes(1));
      assertThat(free.isValid()).isTrue();
      free.release();
    }
  }

  @Test
  void fileWithGarbageAsCounter_failsTheRequest() {
    Path file = directory.resolve("locks.db");
    try (JdbcNode node = EmbeddedNode.open(file)) {
      now(node.grant(new GrantRequest(entry("a", "r"), 60_000, 41)));
      now(node.release(entry("a", "r")));
      new TestDatabase(Dialect.SQLITE, Databases.sqliteSource(file)).setCounter("r", "'many'");
      assertThat(now(node.grant(new GrantRequest(entry("b", "r"), 60_000, 50))))
          .hasToString(
              "Failed[detail=counter of \"r\" holds garbage: it is no number from 0 to"
                  + " 9007199254740991, or another number of its row is none, cause=null]");
    }
  }

  @Test
  void directoryThatCannotBeMade_isAnErrorThatNamesTheFile() throws Exception {
    Path plainFile = Files.writeString(directory.resolve("plain"), "no directory");
    Path file = plainFile.resolve("locks.db");
    assertThatThrownBy(() -> EmbeddedNode.open(file))
        .isInstanceOf(UncheckedIOException.class)
        .hasMessageContaining(file.toString());
  }

  @Test
  void stateDirectory_isThePlatformsOwn() {
    Path home = Path.of("/home/u");
    assertThat(EmbeddedNode.stateDirectory(Map.of(), "Linux", home))
        .isEqualTo(Path.of("/home/u/.local/state/lukko"));
    assertThat(EmbeddedNode.stateDirectory(Map.of("XDG_STATE_HOME", "/s"), "Linux", home))
        .isEqualTo(Path.of("/s/lukko"));
    assertThat(EmbeddedNode.stateDirectory(Map.of("XDG_STATE_HOME", "s"), "Linux", home))
        .isEqualTo(Path.of("/home/u/.local/state/lukko"));
    assertThat(EmbeddedNode.stateDirectory(Map.of("XDG_STATE_HOME", "/s"), "Mac OS X", home))
        .isEqualTo(Path.of("/home/u/Library/Application Support/lukko"));
    assertThat(EmbeddedNode.stateDirectory(Map.of("LOCALAPPDATA", "/l"), "Windows 11", home))
        .isEqualTo(Path.of("/l/lukko"));
    assertThat(EmbeddedNode.stateDirectory(Map.of(), "Windows 11", home))
        .isEqualTo(Path.of("/home/u/AppData/Local/lukko"));
  }

  @Test
  void userWithoutAnAccount_hasTheHomeThatItsEnvironmentNames_orIsToldWhatIsMissing() {
    for (String unknown : new String[] {"?", "", null}) {
      assertThat(EmbeddedNode.file(Map.of("HOME", "/home/u"), "Linux", unknown))
          .isEqualTo(Path.of("/home/u/.local/state/lukko/locks.db"));
      assertThat(EmbeddedNode.file(Map.of("XDG_STATE_HOME", "/s"), "Linux", unknown))
          .isEqualTo(Path.of("/s/lukko/locks.db"));
      assertThatThrownBy(() -> EmbeddedNode.file(Map.of(), "Linux", unknown))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContainingAll("user.home", "HOME", "XDG_STATE_HOME");
    }
    assertThat(EmbeddedNode.file(Map.of("HOME", "/other"), "Linux", "/home/u"))
        .isEqualTo(Path.of("/home/u/.local/state/lukko/locks.db"));
  }

  @Test
  void fileOnANetworkFileSystem_isRefused_andOneOnALocalDiskIsNot() {
    Path file = Path.of("/home/u/locks.db");
    for (String network : new String[] {"nfs", "nfs4", "cifs", "smb3", "fuse.sshfs", "NFS"}) {
      assertThatThrownBy(() -> EmbeddedNode.requireLocal(file, network))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContainingAll("/home/u/locks.db", network, "local disk");
    }
    for (String local : new String[] {"ext4", "xfs", "btrfs", "apfs", "NTFS", "overlay", "tmpfs"}) {
      EmbeddedNode.requireLocal(file, local);
    }
  }

  @Test
  void fileWhoseLogCannotBeSharedMemory_isRefused() {
    // This way of locking has no shared memory, as some file systems have none.
    String url = "jdbc:sqlite:file:" + directory.resolve("locks.db") + "?vfs=unix-dotfile";
    assertThatThrownBy(() -> JdbcNode.builder(url).createSchema(true).build())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContainingAll("write-ahead log", "local disk");
  }
}
