package dev.lukko.jdbc;

import java.sql.SQLException;

/** What a driver's exception means, across databases. */
final class SqlStates {
  private static final int MYSQL_LOCK_WAIT_TIMEOUT = 1205;
  private static final int MYSQL_RECORD_CHANGED = 1020;
  private static final int H2_LOCK_TIMEOUT = 50200;

  private SqlStates() {}

  /** A unique key has the value already. */
  static boolean isDuplicate(SQLException failure) {
    return "23505".equals(failure.getSQLState())
        || (failure.getErrorCode() == 1062 && startsWith(failure, "23"));
  }

  /** The transaction lost against another and may be run again: deadlock, serialization. */
  static boolean isRetryable(SQLException failure) {
    return startsWith(failure, "40")
        || failure.getErrorCode() == MYSQL_RECORD_CHANGED
        || mentions(failure, "SQLITE_BUSY_SNAPSHOT");
  }

  /** A lock held by another transaction was not given up within the database's timeout. */
  static boolean isLockTimeout(SQLException failure) {
    return "55P03".equals(failure.getSQLState())
        || failure.getErrorCode() == MYSQL_LOCK_WAIT_TIMEOUT
        || failure.getErrorCode() == H2_LOCK_TIMEOUT
        || mentions(failure, "SQLITE_BUSY]")
        || mentions(failure, "SQLITE_BUSY_RECOVERY]") // another connection opens the log
        || mentions(failure, "SQLITE_BUSY_TIMEOUT]");
  }

  /** SQLite's driver gives the name of the result in brackets in its message. */
  private static boolean mentions(SQLException failure, String name) {
    String message = failure.getMessage();
    return message != null && message.contains(name);
  }

  private static boolean startsWith(SQLException failure, String prefix) {
    String state = failure.getSQLState();
    return state != null && state.startsWith(prefix);
  }
}
