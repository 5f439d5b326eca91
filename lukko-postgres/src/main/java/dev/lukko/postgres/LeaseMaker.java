package dev.lukko.postgres;

import dev.lukko.LockException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** Takes rows on lease; one statement, or two where keys must be kept in order. */
final class LeaseMaker {
  private final DataSource dataSource;
  private final QueueSql sql;
  private final ScanWindow window;
  private final int maxAttempts;
  private final Backoff backoff;

  LeaseMaker(
      DataSource dataSource, QueueSql sql, ScanWindow window, int maxAttempts, Backoff backoff) {
    this.dataSource = dataSource;
    this.sql = sql;
    this.window = window;
    this.maxAttempts = maxAttempts;
    this.backoff = backoff;
  }

  LeasedRows make(int batch, Duration duration) {
    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(!sql.ordered);
      Granted granted;
      try {
        granted =
            sql.ordered ? inOrder(connection, batch, duration) : any(connection, batch, duration);
        if (sql.ordered) {
          connection.commit();
        }
      } catch (SQLException | RuntimeException failure) {
        if (sql.ordered) {
          connection.rollback();
        }
        throw failure;
      } finally {
        connection.setAutoCommit(true);
      }
      return new LeasedRows(
          dataSource, sql, backoff, granted.token, withoutWornOut(connection, granted.picked));
    } catch (SQLException failure) {
      throw new LockException("rows could not be leased: " + failure.getMessage(), failure);
    }
  }

  private record Granted(List<PickedRow> picked, long token) {}

  private Granted any(Connection connection, int batch, Duration duration) throws SQLException {
    long start = window.now();
    String from = window.from(start);
    try (PreparedStatement statement = connection.prepareStatement(sql.lease)) {
      statement.setString(1, from);
      statement.setInt(2, batch);
      statement.setString(3, QueueCalls.interval(duration));
      Granted granted = read(statement, true);
      window.searched(
          from,
          start,
          window.now(),
          granted.picked.isEmpty() ? null : granted.picked.get(0).rank());
      return granted;
    }
  }

  private Granted inOrder(Connection connection, int batch, Duration duration) throws SQLException {
    long start = window.now();
    String from = window.from(start);
    List<PickedRow> candidates;
    try (PreparedStatement statement = connection.prepareStatement(sql.pick)) {
      statement.setString(1, from);
      statement.setInt(2, batch);
      candidates = read(statement, false).picked;
      window.searched(
          from, start, window.now(), candidates.isEmpty() ? null : candidates.get(0).rank());
    }
    List<QueueRow> ours = PickedRow.rows(candidates.stream().filter(PickedRow::ours).toList());
    if (ours.isEmpty()) {
      return new Granted(List.of(), 0);
    }
    // A statement of its own, and so a snapshot taken after the keys were ours.
    try (PreparedStatement statement = connection.prepareStatement(sql.leaseChosen)) {
      statement.setString(1, QueueCalls.interval(duration));
      statement.setArray(2, connection.createArrayOf("bigint", PickedRow.ids(ours)));
      return read(statement, true);
    }
  }

  private static Granted read(PreparedStatement statement, boolean withToken) throws SQLException {
    List<PickedRow> picked = new ArrayList<>();
    long token = 0;
    try (ResultSet result = statement.executeQuery()) {
      while (result.next()) {
        picked.add(PickedRow.read(result));
        token = withToken ? result.getLong(9) : 0;
      }
    }
    picked.sort(PickedRow.SERVICE);
    return new Granted(picked, token);
  }

  /** Rows whose every lease ran out die here, and are not handed out once more. */
  private List<QueueRow> withoutWornOut(Connection connection, List<PickedRow> picked)
      throws SQLException {
    List<QueueRow> rows = PickedRow.rows(picked);
    List<QueueRow> wornOut = rows.stream().filter(row -> row.attempts() > maxAttempts).toList();
    if (wornOut.isEmpty()) {
      return rows;
    }
    try (PreparedStatement statement = connection.prepareStatement(sql.bury)) {
      int next = 1;
      statement.setInt(next++, -1); // The try that is not made.
      if (sql.hasErrors()) {
        statement.setString(next++, "its workers let every lease run out");
      }
      statement.setArray(next, connection.createArrayOf("bigint", PickedRow.ids(wornOut)));
      statement.executeUpdate();
    }
    return rows.stream().filter(row -> row.attempts() <= maxAttempts).toList();
  }
}
