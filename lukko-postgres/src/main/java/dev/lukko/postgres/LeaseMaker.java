package dev.lukko.postgres;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Takes rows on lease; one statement, or two where keys must be kept in order. */
final class LeaseMaker {
  private final SchemaConnections database;
  private final QueueSql sql;
  private final ScanWindow window;
  private final int maxAttempts;
  private final Backoff backoff;

  LeaseMaker(
      SchemaConnections database,
      QueueSql sql,
      ScanWindow window,
      int maxAttempts,
      Backoff backoff) {
    this.database = database;
    this.sql = sql;
    this.window = window;
    this.maxAttempts = maxAttempts;
    this.backoff = backoff;
  }

  LeasedRows make(int batch, Duration duration) {
    return database.call(
        connection -> {
          Granted granted =
              sql.ordered ? inOrder(connection, batch, duration) : any(connection, batch, duration);
          return new LeasedRows(
              database, sql, backoff, granted.token, withoutWornOut(connection, granted.picked));
        });
  }

  private record Granted(List<PickedRow> picked, long token) {}

  private Granted any(Connection connection, int batch, Duration duration) throws SQLException {
    long start = window.now();
    String from = window.from(start);
    try (PreparedStatement statement = connection.prepareStatement(sql.lease)) {
      statement.setString(1, from);
      statement.setInt(2, batch);
      statement.setString(3, QueueCalls.interval(duration));
      Granted granted = read(QueueCalls.rows(statement), true);
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
      candidates = read(QueueCalls.rows(statement), false).picked;
      window.searched(
          from, start, window.now(), candidates.isEmpty() ? null : candidates.get(0).rank());
    }
    List<PickedRow> ours = candidates.stream().filter(PickedRow::ours).toList();
    if (ours.isEmpty()) {
      return new Granted(List.of(), 0);
    }
    new KeysOnLease(sql).revokeOverdue(connection, ours);
    // A statement of its own, and so a snapshot taken after the keys were ours.
    try (PreparedStatement statement = connection.prepareStatement(sql.leaseChosen)) {
      statement.setString(1, QueueCalls.interval(duration));
      statement.setArray(
          2, connection.createArrayOf("bigint", PickedRow.ids(PickedRow.rows(ours))));
      return read(statement.executeQuery(), true);
    }
  }

  private static Granted read(ResultSet rows, boolean withToken) throws SQLException {
    List<PickedRow> picked = new ArrayList<>();
    long token = 0;
    try (ResultSet result = rows) {
      while (result.next()) {
        picked.add(PickedRow.read(result));
        token = withToken ? TokenSequence.checked(result.getLong(9)) : 0;
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
