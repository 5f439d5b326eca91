package dev.lukko.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.lukko.Lease;
import dev.lukko.postgres.PostgresServer.Database;
import java.io.File;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Case Q4 with the real PgBouncer, where there is one; the other tests simulate it. */
@ExtendWith(PostgresServer.Shared.class)
class PgBouncerTest {
  private static final Duration TTL = Duration.ofSeconds(30);

  @TempDir Path directory;

  @Test
  void q4TransactionModeIsRefusedAndSessionModeIsNot(Database database) throws Exception {
    Optional<File> binary = binary();
    assumeTrue(binary.isPresent(), "no pgbouncer on this machine");
    Process transactions = null;
    Process sessions = null;
    try {
      int transactionPort = freePort();
      transactions = start(binary.get(), database, transactionPort, "transaction");
      assertThatThrownBy(() -> database.through(transactionPort).locks().build())
          .isInstanceOf(UnsuitableDatabaseException.class)
          .hasMessageContaining("transaction");

      int sessionPort = freePort();
      sessions = start(binary.get(), database, sessionPort, "session");
      try (PostgresAdvisoryLocks locks = database.through(sessionPort).locks().build();
          PostgresAdvisoryLocks direct = database.locks().build();
          Lease lease = locks.acquire("a", TTL)) {
        assertThat(lease.isValid()).isTrue();
        assertThat(direct.tryAcquire("a", TTL)).isEmpty();
      }
    } finally {
      for (Process process : new Process[] {transactions, sessions}) {
        if (process != null) {
          process.destroy();
          process.waitFor();
        }
      }
    }
  }

  private static Optional<File> binary() {
    return Stream.concat(
            Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator)),
            Stream.of("/usr/sbin"))
        .map(folder -> new File(folder, "pgbouncer"))
        .filter(File::canExecute)
        .findFirst();
  }

  private Process start(File binary, Database database, int port, String mode) throws IOException {
    Path users = Files.writeString(directory.resolve("users.txt"), "\"postgres\" \"\"\n");
    Path settings = directory.resolve(mode + ".ini");
    Files.writeString(
        settings,
        String.join(
            "\n",
            "[databases]",
            "* = host=127.0.0.1 port=" + database.port() + " user=postgres",
            "[pgbouncer]",
            "listen_addr = 127.0.0.1",
            "listen_port = " + port,
            "unix_socket_dir =",
            "auth_type = any",
            "auth_file = " + users,
            "pool_mode = " + mode,
            "ignore_startup_parameters = extra_float_digits",
            ""));
    assertThat(directory.toFile().setExecutable(true, false)).isTrue();
    assertThat(directory.toFile().setReadable(true, false)).isTrue();
    List<String> command = new ArrayList<>(List.of(binary.getPath()));
    if ("root".equals(System.getProperty("user.name"))) {
      command.addAll(List.of("-u", "nobody")); // It refuses to run as root.
    }
    command.add(settings.toString());
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    await()
        .ignoreExceptions()
        .until(
            () -> {
              try (Connection connection = database.through(port).connect()) {
                return connection.isValid(5);
              }
            });
    return process;
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }
}
