package dev.lukko.postgres;

import dev.lukko.LockException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;

/** Small calls that need a connection for a moment. */
final class QueueCalls {
  private static final int MAX_ERROR = 2_000;

  private QueueCalls() {}

  /** Work on a connection. */
  @FunctionalInterface
  interface Work<T> {
    T on(Connection connection) throws SQLException;
  }

  static <T> T inAutocommit(DataSource dataSource, Work<T> work) {
    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(true);
      return work.on(connection);
    } catch (SQLException failure) {
      throw new LockException("the database refused: " + failure.getMessage(), failure);
    }
  }

  static String interval(Duration duration) {
    return duration.toMillis() + " milliseconds";
  }

  /**
   * An error text that the server takes, whatever is in it: at most 2000 characters, without zero
   * characters, which PostgreSQL cannot store, and without halves of surrogate pairs.
   */
  static String storable(String error) {
    StringBuilder clean = new StringBuilder();
    for (int i = 0; i < error.length() && clean.length() < MAX_ERROR; ) {
      int c = error.codePointAt(i);
      i += Character.charCount(c);
      boolean half = c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE;
      if (clean.length() + Character.charCount(c) <= MAX_ERROR) {
        clean.appendCodePoint(c == 0 || half ? '?' : c);
      } else {
        break;
      }
    }
    return clean.toString();
  }
}
