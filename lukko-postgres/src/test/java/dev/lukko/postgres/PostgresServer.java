package dev.lukko.postgres;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.postgresql.ds.PGSimpleDataSource;

/** One real server for all tests of a run, with a database of its own for each test. */
final class PostgresServer implements AutoCloseable {
  private static final AtomicInteger DATABASES = new AtomicInteger();

  private final EmbeddedPostgres postgres;

  private PostgresServer(EmbeddedPostgres postgres) {
    this.postgres = postgres;
  }

  static PostgresServer start(String... settings) throws IOException {
    EmbeddedPostgres.Builder builder = EmbeddedPostgres.builder();
    for (int i = 0; i < settings.length; i += 2) {
      builder.setServerConfig(settings[i], settings[i + 1]);
    }
    return new PostgresServer(builder.start());
  }

  int port() {
    return postgres.getPort();
  }

  /** A fresh, empty database with the schema in it. */
  Database database() throws SQLException {
    Database database = emptyDatabase();
    PostgresSchema.standard().create(database.dataSource());
    return database;
  }

  Database emptyDatabase() throws SQLException {
    String name = "test_" + DATABASES.incrementAndGet();
    try (Connection connection = postgres.getPostgresDatabase().getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE DATABASE " + name);
    }
    return new Database(name, port());
  }

  @Override
  public void close() throws IOException {
    postgres.close();
  }

  /** A database, reached directly or through something that listens on another port. */
  record Database(String name, int port) {

    Database through(int otherPort) {
      return new Database(name, otherPort);
    }

    String url() {
      return "jdbc:postgresql://localhost:" + port + "/" + name;
    }

    PGSimpleDataSource dataSource() {
      PGSimpleDataSource source = new PGSimpleDataSource();
      source.setUrl(url());
      source.setUser("postgres");
      return source;
    }

    Connection connect() throws SQLException {
      return dataSource().getConnection();
    }

    void execute(String sql) throws SQLException {
      try (Connection connection = connect();
          Statement statement = connection.createStatement()) {
        statement.execute(sql);
      }
    }

    long number(String sql) throws SQLException {
      try (Connection connection = connect();
          Statement statement = connection.createStatement();
          ResultSet result = statement.executeQuery(sql)) {
        result.next();
        return result.getLong(1);
      }
    }

    /** How many advisory locks of whatever session are held in this database. */
    long advisoryLocks() throws SQLException {
      return number(
          "SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database"
              + " WHERE l.locktype = 'advisory' AND l.granted AND d.datname = current_database()");
    }

    PostgresAdvisoryLocks.Builder locks() {
      return PostgresAdvisoryLocks.builder().url(url(), "postgres", null);
    }
  }

  /** Gives tests the shared server, started at the first need and ended with the run. */
  static final class Shared implements ParameterResolver {
    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
      return parameter.getParameter().getType() == PostgresServer.class
          || parameter.getParameter().getType() == Database.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
      PostgresServer server =
          context
              .getRoot()
              .getStore(ExtensionContext.Namespace.GLOBAL)
              .computeIfAbsent(
                  PostgresServer.class,
                  type -> {
                    try {
                      return start();
                    } catch (IOException failure) {
                      throw new UncheckedIOException(failure);
                    }
                  },
                  PostgresServer.class);
      if (parameter.getParameter().getType() == PostgresServer.class) {
        return server;
      }
      try {
        return server.database();
      } catch (SQLException failure) {
        throw new IllegalStateException(failure);
      }
    }
  }
}
