package dev.lukko.postgres;

import dev.lukko.LockException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;

/** Small calls that need a connection for a moment. */
final class QueueCalls {
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

  static String cut(String error) {
    return error.length() <= 2_000 ? error : error.substring(0, 2_000);
  }
}
