package dev.lukko.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * A bound on how long a connection's statements wait for another transaction's locks, set for a
 * while and then taken back to what it was.
 */
final class LockWait {
  private final Dialect dialect;
  private final Connection connection;
  private final String previous;

  private LockWait(Dialect dialect, Connection connection, String previous) {
    this.dialect = dialect;
    this.connection = connection;
    this.previous = previous;
  }

  /**
   * Bounds the waits.
   *
   * @param millis at least 1; MySQL counts in whole seconds, and rounds up
   */
  static LockWait set(Dialect dialect, Connection connection, long millis) throws SQLException {
    String previous = read(dialect, connection);
    LockWait wait = new LockWait(dialect, connection, previous);
    wait.write(dialect == Dialect.MYSQL ? (millis + 999) / 1_000 + "" : Long.toString(millis));
    return wait;
  }

  /** What the bound was before; in milliseconds, except on MySQL. */
  long previousMillis() {
    return Long.parseLong(previous);
  }

  void restore() throws SQLException {
    write(previous);
  }

  private static String read(Dialect dialect, Connection connection) throws SQLException {
    String sql =
        switch (dialect) {
          case POSTGRES -> "SELECT setting FROM pg_settings WHERE name = 'lock_timeout'";
          case MYSQL -> "SELECT @@SESSION.innodb_lock_wait_timeout";
          case H2 -> "SELECT LOCK_TIMEOUT()";
          case SQLITE -> "PRAGMA busy_timeout";
        };
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return Long.toString(row.getLong(1));
    }
  }

  private void write(String value) throws SQLException {
    String sql =
        switch (dialect) {
          // Local: it ends with the transaction, and a failed one needs no restoring.
          case POSTGRES -> "SET LOCAL lock_timeout = ";
          case MYSQL -> "SET SESSION innodb_lock_wait_timeout = ";
          case H2 -> "SET LOCK_TIMEOUT ";
          case SQLITE -> "PRAGMA busy_timeout = ";
        };
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql + value);
    }
  }
}
