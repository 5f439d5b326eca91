package dev.lukko.postgres;

import dev.lukko.LockException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;

/** Takes rows into a transaction, and sorts out those whose last workers died. */
final class ClaimMaker {
  private final DataSource dataSource;
  private final QueueSql sql;
  private final ClaimLedger ledger;
  private final ScanWindow window;
  private final int maxAttempts;
  private final Backoff backoff;

  ClaimMaker(
      DataSource dataSource,
      QueueSql sql,
      ClaimLedger ledger,
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
    try {
      connection.rollback();
      connection.setAutoCommit(true);
    } catch (SQLException broken) {
      System.getLogger(ClaimMaker.class.getName())
          .log(System.Logger.Level.DEBUG, "the connection of a claim was broken", broken);
    }
    PgConnector.closeQuietly(connection);
  }

  private OpenClaim.Taken take(Connection connection, int batch) throws SQLException {
    Optional<Long> suspect = Optional.empty();
    while (true) {
      List<QueueRow> rows =
          suspect.isPresent() ? one(connection, suspect.get()) : search(connection, batch);
      suspect = Optional.empty();
      if (rows.isEmpty()) {
        connection.rollback();
        return OpenClaim.Taken.NOTHING;
      }
      ClaimLedger.Entry entry = ledger.record(rows.stream().map(QueueRow::id).toList());
      if (entry.crashes().isEmpty()) {
        return new OpenClaim.Taken(rows, entry.claimId(), 0);
      }
      if (rows.size() > 1) {
        // Somebody died over one of these. Alone it can do no harm to the others.
        suspect = entry.crashes().keySet().stream().min(Long::compare);
        ledger.remove(entry.claimId());
        connection.rollback();
        continue;
      }
      QueueRow row = rows.get(0);
      int crashes = entry.crashes().getOrDefault(row.id(), 0);
      if (row.attempts() + crashes < maxAttempts) {
        QueueRow counted =
            new QueueRow(
                row.id(),
                row.payload(),
                row.attempts() + crashes,
                row.priority(),
                row.orderingKey());
        return new OpenClaim.Taken(List.of(counted), entry.claimId(), crashes);
      }
      bury(connection, row, crashes);
      ledger.settle(connection, entry.claimId(), row.id());
      connection.commit();
    }
  }

  private List<QueueRow> search(Connection connection, int batch) throws SQLException {
    long start = window.now();
    String from = window.from(start);
    try (PreparedStatement statement = connection.prepareStatement(sql.pick)) {
      statement.setString(1, from);
      statement.setInt(2, batch);
      List<PickedRow> picked = read(statement);
      window.searched(from, start, window.now(), picked.isEmpty() ? null : picked.get(0).rank());
      return PickedRow.rows(picked.stream().filter(PickedRow::ours).toList());
    }
  }

  private List<QueueRow> one(Connection connection, long id) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql.pickOne)) {
      statement.setLong(1, id);
      return PickedRow.rows(read(statement));
    }
  }

  private static List<PickedRow> read(PreparedStatement statement) throws SQLException {
    try (ResultSet result = statement.executeQuery()) {
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
