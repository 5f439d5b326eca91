package dev.lukko.postgres;

import java.sql.PreparedStatement;
import java.time.Duration;
import java.util.List;

/**
 * Rows that a worker has on lease, under one token. Nothing is open between the calls; each is a
 * short transaction of its own. Rows that are neither finished nor failed are free when the lease
 * ends. Thread-safe.
 */
public final class LeasedRows {
  private final SchemaConnections database;
  private final QueueSql sql;
  private final Backoff backoff;
  private final long token;
  private final List<QueueRow> rows;

  LeasedRows(
      SchemaConnections database, QueueSql sql, Backoff backoff, long token, List<QueueRow> rows) {
    this.database = database;
    this.sql = sql;
    this.backoff = backoff;
    this.token = token;
    this.rows = rows;
  }

  /** The rows, in order of service; empty if there was nothing. */
  public List<QueueRow> rows() {
    return rows;
  }

  /** The fencing token of this lease; what the work writes elsewhere can be guarded by it. */
  public long fencingToken() {
    return token;
  }

  /**
   * Finishes rows that are still ours, in one statement.
   *
   * @return how many; fewer than given if the lease of some had ended and another has them
   */
  public int finish(List<QueueRow> done) {
    if (done.isEmpty()) {
      return 0;
    }
    return database.call(
        connection -> {
          try (PreparedStatement statement = connection.prepareStatement(sql.finishLeased)) {
            statement.setArray(1, connection.createArrayOf("bigint", PickedRow.ids(done)));
            statement.setLong(2, token);
            return QueueCalls.changed(statement);
          }
        });
  }

  /** Finishes all rows that are still ours. */
  public int finishAll() {
    return finish(rows);
  }

  /**
   * Puts a row back after a delay that doubles each time; after the last attempt it becomes a dead
   * letter.
   *
   * @param error why, in human-readable form; cut to 2000 characters
   * @return false if its lease had ended and another has it: nothing is changed
   */
  public boolean fail(QueueRow row, String error) {
    FailureCall call = new FailureCall(sql, row, error, backoff.after(row.attempts()));
    return database.call(
        connection -> {
          try (PreparedStatement statement = connection.prepareStatement(sql.failLeased)) {
            int next = call.bind(statement, 0); // This try was counted when it began.
            statement.setLong(next++, row.id());
            statement.setLong(next, token);
            return QueueCalls.changed(statement) == 1;
          }
        });
  }

  /**
   * Keeps rows for a time from now.
   *
   * @param duration 1 ms to 36,500 days
   * @return how many are still ours
   */
  public int renew(List<QueueRow> held, Duration duration) {
    QueueCalls.checkDuration("duration", duration, Duration.ofMillis(1));
    return database.call(
        connection -> {
          try (PreparedStatement statement = connection.prepareStatement(sql.renew)) {
            statement.setString(1, QueueCalls.interval(duration));
            statement.setArray(2, connection.createArrayOf("bigint", PickedRow.ids(held)));
            statement.setLong(3, token);
            return QueueCalls.changed(statement);
          }
        });
  }

  /** Keeps all rows for a time from now. */
  public int renew(Duration duration) {
    return renew(rows, duration);
  }
}
