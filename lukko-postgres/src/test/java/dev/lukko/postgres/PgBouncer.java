package dev.lukko.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.lukko.postgres.PostgresServer.Database;
import java.io.File;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** A running PgBouncer, where the program is installed; tests that need it are skipped without. */
final class PgBouncer implements AutoCloseable {
  private final Process process;
  private final Database database;

  private PgBouncer(Process process, Database database) {
    this.process = process;
    this.database = database;
  }

  /**
   * Starts one before a database.
   *
   * @param directory for its files
   * @param mode {@code transaction} or {@code session}
   * @param sessions how many server sessions it has
   */
  static PgBouncer start(Path directory, Database database, String mode, int sessions)
      throws IOException {
    Optional<File> binary = binary();
    assumeTrue(binary.isPresent(), "no pgbouncer on this machine");
    int port = freePort();
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
            "default_pool_size = " + sessions,
            "server_idle_timeout = 0",
            "server_lifetime = 86400",
            "ignore_startup_parameters = extra_float_digits",
            ""));
    assertThat(directory.toFile().setExecutable(true, false)).isTrue();
    assertThat(directory.toFile().setReadable(true, false)).isTrue();
    List<String> command = new ArrayList<>(List.of(binary.get().getPath()));
    if ("root".equals(System.getProperty("user.name"))) {
      command.addAll(List.of("-u", "nobody")); // It refuses to run as root.
    }
    command.add(settings.toString());
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    PgBouncer bouncer = new PgBouncer(process, database.through(port));
    await()
        .ignoreExceptions()
        .until(
            () -> {
              try (Connection connection = bouncer.database().connect()) {
                return connection.isValid(5);
              }
            });
    return bouncer;
  }

  /** The database as it is reached through the pooler. */
  Database database() {
    return database;
  }

  private static Optional<File> binary() {
    return Stream.concat(
            Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator)),
            Stream.of("/usr/sbin"))
        .map(folder -> new File(folder, "pgbouncer"))
        .filter(File::canExecute)
        .findFirst();
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  @Override
  public void close() {
    process.destroy();
    try {
      process.waitFor();
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
    }
  }
}
