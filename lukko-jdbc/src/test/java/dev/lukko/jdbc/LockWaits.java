package dev.lukko.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** Asks a database which of its sessions wait for a lock. */
final class LockWaits implements AutoCloseable {
  private final Dialect dialect;
  private final Connection monitor;

  LockWaits(Dialect dialect, UrlDataSource database) throws SQLException {
    this.dialect = dialect;
    this.monitor = database.getConnection();
  }

  long sessionId(Connection connection) throws SQLException {
    return switch (dialect) {
      case POSTGRES -> number(connection, "SELECT pg_backend_pid()");
      case MYSQL -> number(connection, "SELECT CONNECTION_ID()");
      case H2 -> number(connection, "SELECT SESSION_ID()");
      case SQLITE -> 0;
    };
  }

  boolean isWaiting(long sessionId) {
    try {
      return switch (dialect) {
        case POSTGRES ->
            number(monitor, "SELECT cardinality(pg_blocking_pids(CAST(? AS INT)))", sessionId) > 0;
        // The view of the transactions is cached for 100 ms. Of two transactions only one waits.
        case MYSQL ->
            number(
                    monitor,
                    "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS"
                        + " WHERE VARIABLE_NAME = 'INNODB_ROW_LOCK_CURRENT_WAITS'")
                > 0;
        case H2 ->
            number(
                    monitor,
                    "SELECT COUNT(*) FROM INFORMATION_SCHEMA.SESSIONS"
                        + " WHERE SESSION_ID = ? AND BLOCKER_ID IS NOT NULL",
                    sessionId)
                > 0;
        // It never waits here: it answers that it is busy.
        case SQLITE -> false;
      };
    } catch (SQLException failed) {
      throw new IllegalStateException(failed);
    }
  }

  private static long number(Connection connection, String sql, long... arguments)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int i = 0; i < arguments.length; i++) {
        statement.setLong(i + 1, arguments[i]);
      }
      try (ResultSet row = statement.executeQuery()) {
        row.next();
        return row.getLong(1);
      }
    }
  }

  @Override
  public void close() throws SQLException {
    monitor.close();
  }
}
