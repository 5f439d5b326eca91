package dev.lukko.jdbc;

import java.io.IOException;
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
      case SQLITE -> sqlite();
    };
  }

  static DataSource at(String url) {
    return DriverDataSource.of(url);
  }

  /** The URL of a database, for another process or with other settings. */
  static String urlOf(DataSource database) throws SQLException {
    try (Connection connection = database.getConnection()) {
      return connection.getMetaData().getURL();
    }
  }

  private static DataSource sqlite() {
    try {
      Path file = Files.createTempFile("lukko-empty", ".sqlite");
      for (String suffix : new String[] {"", "-wal", "-shm"}) {
        Path.of(file + suffix).toFile().deleteOnExit();
      }
      DataSource database = at("jdbc:sqlite:" + file + "?busy_timeout=0");
      try (Connection connection = database.getConnection()) {
        DialectTraits.execute(connection, "PRAGMA journal_mode = WAL");
      }
      return database;
    } catch (IOException | SQLException failed) {
      throw new IllegalStateException("no SQLite file", failed);
    }
  }
}
