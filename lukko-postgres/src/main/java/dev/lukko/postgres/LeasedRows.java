package dev.lukko.postgres;

import java.sql.PreparedStatement;
import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;

/**
 * Rows that a worker has on lease, under one token. Nothing is open between the calls; each is a
 * short transaction of its own. Rows that are neither finished nor failed are free when the lease
 * ends. Thread-safe.
 */
public final class LeasedRows {
  private final DataSource dataSource;
  private final QueueSql sql;
  private final Backoff backoff;
  private final long token;
  private final List<QueueRow> rows;

  LeasedRows(
      DataSource dataSource, QueueSql sql, Backoff backoff, long token, List<QueueRow> rows) {
    this.dataSource = dataSource;
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
    return QueueCalls.inAutocommit(
        dataSource,
        connection -> {
          try (PreparedStatement statement = connection.prepareStatement(sql.finishLeased)) {
            statement.setArray(1, connection.createArrayOf("bigint", PickedRow.ids(done)));
            statement.setLong(2, token);
            return statement.executeUpdate();
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
   * @param error why, for people; cut to 2000 characters
   * @return false if its lease had ended and another has it: nothing is changed
   */
  public boolean fail(QueueRow row, String error) {
    FailureCall call = new FailureCall(sql, row, error, backoff.after(row.attempts()));
    return QueueCalls.inAutocommit(
        dataSource,
        connection -> {
          try (PreparedStatement statement = connection.prepareStatement(sql.failLeased)) {
            int next = call.bind(statement, 0); // This try was counted when it began.
            statement.setLong(next++, row.id());
            statement.setLong(next, token);
            return statement.executeUpdate() == 1;
          }
        });
  }

  /**
   * Keeps rows for a time from now.
   *
   * @return how many are still ours
   */
  public int renew(List<QueueRow> held, Duration duration) {
    return QueueCalls.inAutocommit(
        dataSource,
        connection -> {
          try (PreparedStatement statement = connection.prepareStatement(sql.renew)) {
            statement.setString(1, QueueCalls.interval(duration));
            statement.setArray(2, connection.createArrayOf("bigint", PickedRow.ids(held)));
            statement.setLong(3, token);
            return statement.executeUpdate();
          }
        });
  }

  /** Keeps all rows for a time from now. */
  public int renew(Duration duration) {
    return renew(rows, duration);
  }
}
