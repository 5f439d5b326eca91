package dev.lukko.postgres;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Statement;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Gives the connections of another source, to a database that has our schema, at READ COMMITTED:
 * above that, a row that changed since the snapshot is an error instead of being skipped. Both are
 * asked once; if the source's connections are set to another level, each goes back as it came.
 */
final class QueueSource implements DataSource {
  private static final int UNKNOWN = -1;

  private final DataSource source;
  private final PostgresSchema schema;
  private volatile int level = UNKNOWN;

  QueueSource(DataSource source, PostgresSchema schema) {
    this.source = source;
    this.schema = schema;
  }

  @Override
  public Connection getConnection() throws SQLException {
    return adjusted(source.getConnection());
  }

  @Override
  public Connection getConnection(String user, String password) throws SQLException {
    return adjusted(source.getConnection(user, password));
  }

  private Connection adjusted(Connection connection) throws SQLException {
    try {
      if (level == UNKNOWN) {
        check(connection);
        level = connection.getTransactionIsolation();
      }
      if (level == Connection.TRANSACTION_READ_COMMITTED) {
        return connection;
      }
      connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
      return restoring(connection);
    } catch (SQLException | RuntimeException failure) {
      PgConnector.closeQuietly(connection);
      throw failure;
    }
  }

  private void check(Connection connection) throws SQLException {
    boolean autoCommit = connection.getAutoCommit();
    if (!autoCommit) {
      connection.setAutoCommit(true);
    }
    try (Statement statement = connection.createStatement()) {
      schema.check(statement);
    }
    if (!autoCommit) {
      connection.setAutoCommit(false);
    }
  }

  private Connection restoring(Connection real) {
    return (Connection)
        Proxy.newProxyInstance(
            QueueSource.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (proxy, method, arguments) -> {
              try {
                if (method.getName().equals("close") && !real.isClosed()) {
                  real.setTransactionIsolation(level);
                }
              } catch (SQLException broken) {
                System.getLogger(QueueSource.class.getName())
                    .log(System.Logger.Level.DEBUG, "a connection was not put back", broken);
              }
              try {
                return method.invoke(real, arguments);
              } catch (InvocationTargetException failed) {
                throw failed.getCause();
              }
            });
  }

  @Override
  public java.io.@Nullable PrintWriter getLogWriter() throws SQLException {
    return source.getLogWriter();
  }

  @Override
  public void setLogWriter(java.io.@Nullable PrintWriter out) throws SQLException {
    source.setLogWriter(out);
  }

  @Override
  public void setLoginTimeout(int seconds) throws SQLException {
    source.setLoginTimeout(seconds);
  }

  @Override
  public int getLoginTimeout() throws SQLException {
    return source.getLoginTimeout();
  }

  @Override
  public Logger getParentLogger() throws SQLFeatureNotSupportedException {
    return source.getParentLogger();
  }

  @Override
  public <T> T unwrap(Class<T> type) throws SQLException {
    return source.unwrap(type);
  }

  @Override
  public boolean isWrapperFor(Class<?> type) throws SQLException {
    return source.isWrapperFor(type);
  }
}
