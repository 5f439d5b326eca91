package dev.lukko.postgres;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Gives the connections of another source at READ COMMITTED, the level at which locked rows can be
 * skipped: above it, a row that changed since the snapshot is an error instead. What the source's
 * connections are set to is asked once; if it is another level, each goes back as it came.
 */
final class ReadCommittedSource implements DataSource {
  private static final int UNKNOWN = -1;

  private final DataSource source;
  private volatile int level = UNKNOWN;

  ReadCommittedSource(DataSource source) {
    this.source = source;
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

  private Connection restoring(Connection real) {
    return (Connection)
        Proxy.newProxyInstance(
            ReadCommittedSource.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (proxy, method, arguments) -> {
              try {
                if (method.getName().equals("close") && !real.isClosed()) {
                  real.setTransactionIsolation(level);
                }
              } catch (SQLException broken) {
                System.getLogger(ReadCommittedSource.class.getName())
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
