package dev.lukko.bench;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;
import org.postgresql.PGStatement;

/** The server of a benchmark, and small calls to it. */
final class Postgres {
  private Postgres() {}

  /** A server that answers a commit when it is written, as in production. */
  static EmbeddedPostgres start() throws IOException {
    return EmbeddedPostgres.builder()
        .setServerConfig("synchronous_commit", System.getProperty("synchronous_commit", "on"))
        .start();
  }

  static String url(EmbeddedPostgres server) {
    return server.getJdbcUrl("postgres", "postgres");
  }

  /** A statement that is prepared at the server from its first use on. */
  static PreparedStatement prepare(Connection connection, String sql) throws SQLException {
    PreparedStatement statement = connection.prepareStatement(sql);
    statement.unwrap(PGStatement.class).setPrepareThreshold(1);
    return statement;
  }

  static void call(PreparedStatement statement, long key) throws SQLException {
    statement.setLong(1, key);
    try (ResultSet result = statement.executeQuery()) {
      if (!result.next() || !result.getBoolean(1)) {
        throw new IllegalStateException("refused");
      }
    }
  }

  static void execute(DataSource source, String sql) throws SQLException {
    try (Connection connection = source.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  /** The connection, with every execution of a statement counted. */
  static Connection counted(Connection real, AtomicLong executions) {
    return wrap(
        Connection.class,
        real,
        (method, result) ->
            method.equals("prepareStatement")
                ? wrap(
                    PreparedStatement.class,
                    (PreparedStatement) result,
                    (name, answer) -> {
                      if (name.startsWith("execute")) {
                        executions.incrementAndGet();
                      }
                      return answer;
                    })
                : result);
  }

  private interface Result {
    Object map(String method, Object result);
  }

  private static <T> T wrap(Class<T> type, T real, Result results) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> {
              try {
                return results.map(method.getName(), method.invoke(real, arguments));
              } catch (InvocationTargetException failed) {
                throw failed.getCause();
              }
            }));
  }
}
