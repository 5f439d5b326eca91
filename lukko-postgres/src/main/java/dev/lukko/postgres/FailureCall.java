package dev.lukko.postgres;

import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;

/**
 * The parameters of a failure, in the order of {@link QueueSql}.
 *
 * @param sql the statements
 * @param row what failed
 * @param error why
 * @param delay how long it must wait
 */
record FailureCall(QueueSql sql, QueueRow row, String error, Duration delay) {

  /** Sets all but the condition; gives the index of the next parameter. */
  int bind(PreparedStatement statement, int attempts) throws SQLException {
    int next = 1;
    statement.setInt(next++, attempts);
    statement.setInt(next++, attempts);
    statement.setString(next++, QueueCalls.interval(delay));
    if (sql.hasRank()) {
      statement.setString(next++, QueueCalls.interval(delay));
    }
    if (sql.hasErrors()) {
      statement.setString(next++, QueueCalls.storable(error));
    }
    return next;
  }
}
