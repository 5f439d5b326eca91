package dev.lukko.scorecard;

import dev.lukko.bench.ServerClocks;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What several rows share: clocks, the database, the packages of Node.js. */
final class Surroundings implements AutoCloseable {
  /** As ShedLock's documentation has it for PostgreSQL. */
  private static final String TABLE =
      "CREATE TABLE shedlock(name VARCHAR(64) NOT NULL, lock_until TIMESTAMP NOT NULL,"
          + " locked_at TIMESTAMP NOT NULL, locked_by VARCHAR(255) NOT NULL, PRIMARY KEY (name))";

  private final Path directory;
  private final Optional<ServerClocks> clocks;
  private final Optional<NodeModules> nodeModules;
  private @Nullable EmbeddedPostgres postgres;

  Surroundings(List<Library> libraries, Consumer<String> log) throws InterruptedException {
    try {
      directory = Files.createTempDirectory("lukko-scorecard-");
      clocks = ServerClocks.prepare(directory, log);
      nodeModules =
          libraries.stream().anyMatch(Library::isNode)
              ? NodeModules.prepare(directory)
              : Optional.empty();
      if (libraries.stream().anyMatch(Library::isSql)) {
        EmbeddedPostgres started = EmbeddedPostgres.start();
        postgres = started;
        try (Connection connection = started.getPostgresDatabase().getConnection();
            Statement statement = connection.createStatement()) {
          statement.execute(TABLE);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  Optional<ServerClocks> clocks() {
    return clocks;
  }

  EmbeddedPostgres postgres() {
    return Objects.requireNonNull(postgres);
  }

  Optional<NodeModules> nodeModules() {
    return nodeModules;
  }

  /** Why a library cannot be run here; empty if it can. */
  Optional<String> missing(Library library) {
    return library.isNode() && nodeModules.isEmpty()
        ? Optional.of("Node.js, npm or its registry cannot be reached")
        : Optional.empty();
  }

  @Override
  public void close() {
    try {
      if (postgres != null) {
        postgres.close();
      }
      try (Stream<Path> files = Files.walk(directory)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
