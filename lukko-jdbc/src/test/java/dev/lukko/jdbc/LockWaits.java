package dev.lukko.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.stream.Stream;
import javax.sql.DataSource;

/** Asks a database which of its sessions wait for a lock. */
final class LockWaits implements AutoCloseable {
  private final Dialect dialect;
  private final Connection monitor;

  LockWaits(Dialect dialect, DataSource database) throws SQLException {
    this.dialect = dialect;
    this.monitor = database.getConnection();
  }

  long sessionId(Connection connection) throws SQLException {
    return switch (dialect) {
      case POSTGRES -> number(connection, "SELECT pg_backend_pid()");
      case MYSQL -> number(connection, "SELECT CONNECTION_ID()");
      case H2, SQLITE -> 0;
    };
  }

  /** Whether a session, used by this thread, waits for a lock. */
  boolean isWaiting(long sessionId, Thread thread) {
    try {
      return switch (dialect) {
        case POSTGRES ->
            number(monitor, "SELECT cardinality(pg_blocking_pids(CAST(? AS INT)))", sessionId) > 0;
        // The view of the transactions is cached for 100 ms. Of two transactions only one waits.
        case MYSQL -> rowLockWaits() > 0;
        // It runs in this JVM, and shows in its sessions only some of its ways to wait.
        case H2 -> Stream.of(thread.getStackTrace()).anyMatch(LockWaits::isWaitOfH2);
        // It never waits here: it answers that it is busy.
        case SQLITE -> false;
      };
    } catch (SQLException failed) {
      throw new IllegalStateException(failed);
    }
  }

  /** Whether as many sessions as there are threads wait, these being all that could. */
  boolean areWaiting(Thread... threads) {
    try {
      return switch (dialect) {
        case POSTGRES ->
            number(
                    monitor,
                    "SELECT COUNT(*) FROM pg_locks l JOIN pg_stat_activity a"
                        + " USING (pid) WHERE NOT l.granted AND a.datname = current_database()")
                >= threads.length;
        case MYSQL -> rowLockWaits() >= threads.length;
        case H2, SQLITE -> Stream.of(threads).allMatch(LockWaits::isInClaim);
      };
    } catch (SQLException failed) {
      throw new IllegalStateException(failed);
    }
  }

  /** These two do not tell; a thread that is in the claim, and cannot get it, will be soon. */
  private static boolean isInClaim(Thread thread) {
    return Stream.of(thread.getStackTrace())
        .anyMatch(
            frame ->
                frame.getClassName().startsWith(IdempotencyKeys.class.getName())
                    && frame.getMethodName().equals("claim"));
  }

  private long rowLockWaits() throws SQLException {
    return number(
        monitor,
        "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS"
            + " WHERE VARIABLE_NAME = 'INNODB_ROW_LOCK_CURRENT_WAITS'");
  }

  static boolean isWaitOfH2(StackTraceElement frame) {
    String method = frame.getMethodName();
    return frame.getClassName().equals(H2FirstContact.class.getName())
        ? method.equals("pause")
        : frame.getClassName().startsWith("org.h2.")
            && (method.equals("waitFor") || method.equals("filterConcurrentUpdate"));
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
