package dev.lukko.jdbc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;

/** Fresh databases of every kind, without tables. A busy SQLite says so at once. */
final class EmptyDatabases {
  private static final AtomicInteger NUMBER = new AtomicInteger();

  private EmptyDatabases() {}

  static DataSource create(Dialect dialect) {
    return switch (dialect) {
      case POSTGRES -> Databases.postgresSource();
      case MYSQL -> Databases.mariaDbSource();
      case H2 -> at("jdbc:h2:mem:empty" + NUMBER.incrementAndGet() + ";DB_CLOSE_DELAY=-1");
      case SQLITE -> at("jdbc:sqlite:" + file() + "?journal_mode=WAL&busy_timeout=0");
    };
  }

  static DataSource at(String url) {
    return DriverDataSource.of(url);
  }

  /** The URL of a database, by which another process or with other settings it can be reached. */
  static String urlOf(DataSource database) throws SQLException {
    try (Connection connection = database.getConnection()) {
      return connection.getMetaData().getURL();
    }
  }

  private static Path file() {
    try {
      Path file = Files.createTempFile("lukko-empty", ".sqlite");
      for (String suffix : new String[] {"", "-wal", "-shm"}) {
        Path.of(file + suffix).toFile().deleteOnExit();
      }
      return file;
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }
}
