package dev.lukko.postgres;

import dev.lukko.schedule.JobRun;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;

/** How statements of ours are written and read. */
final class QueueCalls {
  private static final int MAX_ERROR = 2_000;

  /**
   * Above this level, a row that changed since the snapshot is an error instead of being skipped.
   * For this transaction only, whatever the session's default is.
   */
  static final String BEGIN = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED; ";

  private static final Duration LONGEST = Duration.ofDays(36_500);

  private QueueCalls() {}

  /** A statement as a transaction of its own, in one round trip. */
  static String alone(String statement) {
    return BEGIN + statement + "; COMMIT";
  }

  /** The rows of a statement behind {@link #BEGIN}. */
  static ResultSet rows(PreparedStatement statement) throws SQLException {
    executeSecond(statement);
    return statement.getResultSet();
  }

  /** How many rows a statement behind {@link #BEGIN} has changed. */
  static int changed(PreparedStatement statement) throws SQLException {
    executeSecond(statement);
    return statement.getUpdateCount();
  }

  private static void executeSecond(PreparedStatement statement) throws SQLException {
    statement.setFetchSize(0); // All at once: what the driver fetches later, another may lock.
    statement.execute();
    statement.getMoreResults();
  }

  /** Refuses what the server's clock could not add up, or what is too short to mean anything. */
  static void checkDuration(String field, Duration duration, Duration least) {
    if (duration == null || duration.compareTo(least) < 0 || duration.compareTo(LONGEST) > 0) {
      throw new IllegalArgumentException(
          field
              + " is "
              + duration
              + "; it must be from "
              + least.toMillis()
              + " ms to "
              + LONGEST.toDays()
              + " days");
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
    return JobRun.storable(error, MAX_ERROR);
  }
}
