package dev.lukko.jdbc;

import java.sql.SQLException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** What a driver's exception means, across databases. */
final class SqlStates {
  private static final int MYSQL_LOCK_WAIT_TIMEOUT = 1205;
  private static final int MYSQL_RECORD_CHANGED = 1020;
  private static final int H2_LOCK_TIMEOUT = 50200;
  private static final int SQLITE_BUSY = 5;

  private SqlStates() {}

  /** A unique key has the value already. */
  static boolean isDuplicate(SQLException failure) {
    return "23505".equals(failure.getSQLState())
        || (failure.getErrorCode() == 1062 && startsWith(failure, "23"));
  }

  /** The transaction lost against another and may be run again: deadlock, serialization. */
  static boolean isRetryable(SQLException failure) {
    return startsWith(failure, "40") || failure.getErrorCode() == MYSQL_RECORD_CHANGED;
  }

  /** A lock held by another transaction was not given up within the database's timeout. */
  static boolean isLockTimeout(SQLException failure) {
    return "55P03".equals(failure.getSQLState())
        || failure.getErrorCode() == MYSQL_LOCK_WAIT_TIMEOUT
        || failure.getErrorCode() == H2_LOCK_TIMEOUT
        || isSqliteBusy(failure);
  }

  /** SQLite's driver has its code in the lower byte, and says its name in the message. */
  private static boolean isSqliteBusy(SQLException failure) {
    @Nullable String message = failure.getMessage();
    return (failure.getErrorCode() & 0xFF) == SQLITE_BUSY
        && message != null
        && message.toUpperCase(Locale.ROOT).contains("SQLITE_BUSY");
  }

  private static boolean startsWith(SQLException failure, String prefix) {
    String state = failure.getSQLState();
    return state != null && state.startsWith(prefix);
  }
}
