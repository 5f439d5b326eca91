package dev.lukko.postgres;

import dev.lukko.LockException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.sql.DataSource;

/** Takes rows into a transaction, and sorts out those whose last workers died. */
final class ClaimMaker {
  private final DataSource dataSource;
  private final QueueSql sql;
  private final CrashLedger ledger;
  private final ScanWindow window;
  private final int maxAttempts;
  private final Backoff backoff;

  ClaimMaker(
      DataSource dataSource,
      QueueSql sql,
      CrashLedger ledger,
      ScanWindow window,
      int maxAttempts,
      Backoff backoff) {
    this.dataSource = dataSource;
    this.sql = sql;
    this.ledger = ledger;
    this.window = window;
    this.maxAttempts = maxAttempts;
    this.backoff = backoff;
  }

  SkipLockedQueue.Claim make(int batch) {
    try {
      Connection connection = dataSource.getConnection();
      try {
        connection.setAutoCommit(false);
        return new OpenClaim(connection, sql, ledger, take(connection, batch), backoff);
      } catch (SQLException | RuntimeException failure) {
        abandon(connection);
        throw failure;
      }
    } catch (SQLException failure) {
      throw new LockException("rows could not be claimed: " + failure.getMessage(), failure);
    }
  }

  private static void abandon(Connection connection) {
    try (Statement statement = connection.createStatement()) {
      statement.execute(QueueSql.GIVE_BACK);
    } catch (SQLException failed) {
      System.getLogger(ClaimMaker.class.getName())
          .log(System.Logger.Level.DEBUG, "a search for rows did not end", failed);
    }
    OpenClaim.leave(connection);
  }

  private OpenClaim.Taken take(Connection connection, int batch) throws SQLException {
    Optional<Long> suspect = Optional.empty();
    while (true) {
      List<PickedRow> picked =
          suspect.isPresent() ? one(connection, suspect.get()) : search(connection, batch);
      if (picked.isEmpty()) {
        connection.commit(); // Some may be locked though none is ours.
        if (suspect.isEmpty()) {
          return OpenClaim.Taken.NOTHING;
        }
        suspect = Optional.empty(); // Another has taken it.
        continue;
      }
      List<QueueRow> rows = PickedRow.rows(picked);
      Map<Long, Integer> crashes = crashes(picked);
      if (crashes.isEmpty()) {
        return new OpenClaim.Taken(rows, 0, false);
      }
      if (rows.size() > 1) {
        // Somebody died over one of these. Alone it can do no harm to the others.
        suspect = crashes.keySet().stream().min(Long::compare);
        connection.commit();
        continue;
      }
      QueueRow row = rows.get(0);
      int counted = counted(crashes.getOrDefault(row.id(), 0));
      if (row.attempts() + counted < maxAttempts) {
        QueueRow again =
            new QueueRow(
                row.id(),
                row.payload(),
                row.attempts() + counted,
                row.priority(),
                row.orderingKey());
        return new OpenClaim.Taken(List.of(again), counted, true);
      }
      bury(connection, row, counted);
      ledger.settle(connection, row.id());
      connection.commit();
      suspect = Optional.empty();
    }
  }

  private Map<Long, Integer> crashes(List<PickedRow> picked) throws SQLException {
    List<PickedRow> touched = picked.stream().filter(row -> row.lastXid() != 0).toList();
    return touched.isEmpty() ? Map.of() : ledger.crashes(touched);
  }

  /**
   * How many crashes count as tries. In a table that others write, one of them may be a transaction
   * of theirs that changed the row and was rolled back.
   */
  private int counted(int crashes) {
    return sql.isShared() ? Math.max(0, crashes - 1) : crashes;
  }

  private List<PickedRow> search(Connection connection, int batch) throws SQLException {
    long start = window.now();
    String from = window.from(start);
    try (PreparedStatement statement = connection.prepareStatement(sql.claim)) {
      statement.setString(1, from);
      statement.setInt(2, batch);
      List<PickedRow> picked = read(statement);
      window.searched(from, start, window.now(), picked.isEmpty() ? null : picked.get(0).rank());
      return picked.stream().filter(PickedRow::ours).toList();
    }
  }

  private List<PickedRow> one(Connection connection, long id) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql.claimOne)) {
      statement.setLong(1, id);
      return read(statement).stream().filter(PickedRow::ours).toList();
    }
  }

  private static List<PickedRow> read(PreparedStatement statement) throws SQLException {
    statement.execute(); // Two statements: the second gives nothing.
    try (ResultSet result = statement.getResultSet()) {
      List<PickedRow> picked = new ArrayList<>();
      while (result.next()) {
        picked.add(PickedRow.read(result));
      }
      picked.sort(PickedRow.SERVICE);
      return picked;
    }
  }

  private void bury(Connection connection, QueueRow row, int crashes) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql.bury)) {
      int next = 1;
      statement.setInt(next++, crashes);
      if (sql.hasErrors()) {
        statement.setString(next++, crashes + " workers ended without a word while they had it");
      }
      statement.setArray(next, connection.createArrayOf("bigint", new Long[] {row.id()}));
      statement.executeUpdate();
    }
  }
}
