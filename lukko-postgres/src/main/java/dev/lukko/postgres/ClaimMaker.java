package dev.lukko.postgres;

import dev.lukko.LockException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Takes rows into a transaction, and sorts out those whose last workers died. */
final class ClaimMaker {
  private static final String INSTEAD =
      "Claim rows outside of it, and do the work on the claim's connection; or give the queue the"
          + " DataSource behind the proxy.";

  private final SchemaConnections database;
  private final QueueSql sql;
  private final CrashLedger ledger;
  private final Witnesses witnesses;
  private final ScanWindow window;
  private final int maxAttempts;
  private final Backoff backoff;

  ClaimMaker(
      SchemaConnections database,
      QueueSql sql,
      CrashLedger ledger,
      Witnesses witnesses,
      ScanWindow window,
      int maxAttempts,
      Backoff backoff) {
    this.database = database;
    this.sql = sql;
    this.ledger = ledger;
    this.witnesses = witnesses;
    this.window = window;
    this.maxAttempts = maxAttempts;
    this.backoff = backoff;
  }

  SkipLockedQueue.Claim make(int batch) {
    try {
      BorrowedConnection borrowed = database.borrow(INSTEAD);
      try {
        return borrowed.call(connection -> claim(borrowed, batch));
      } catch (SQLException | RuntimeException failure) {
        borrowed.giveBack();
        throw failure;
      }
    } catch (SQLException failure) {
      throw new LockException("rows could not be claimed: " + failure.getMessage(), failure);
    }
  }

  private SkipLockedQueue.Claim claim(BorrowedConnection borrowed, int batch) throws SQLException {
    Connection connection = borrowed.connection();
    Search search = new Search(connection, witnesses.take(connection));
    try {
      OpenClaim.Taken taken = take(search, batch);
      return new OpenClaim(
          borrowed, sql, ledger, taken, backoff, () -> witnesses.giveBack(search.witness));
    } catch (SQLException | RuntimeException failure) {
      witnesses.giveBack(search.witness); // Nobody has worked on anything: this was no crash.
      throw failure;
    }
  }

  private OpenClaim.Taken take(Search search, int batch) throws SQLException {
    Connection connection = search.connection;
    Optional<Long> suspect = Optional.empty();
    while (true) {
      List<PickedRow> picked =
          suspect.isPresent() ? search.one(suspect.get()) : search.batch(batch);
      if (picked.isEmpty()) {
        connection.commit(); // Some may be locked though none is ours.
        if (suspect.isEmpty()) {
          return OpenClaim.Taken.NOTHING;
        }
        suspect = Optional.empty(); // Another has taken it.
        continue;
      }
      List<QueueRow> rows = PickedRow.rows(picked);
      CrashLedger.Crashes crashes = crashes(connection, picked);
      if (crashes.counts().isEmpty()) {
        return new OpenClaim.Taken(rows, 0, false);
      }
      if (rows.size() > 1 || crashes.isNews()) {
        // Somebody died over one of these. Alone it can do no harm to the others.
        suspect = crashes.counts().keySet().stream().min(Long::compare);
        connection.commit(); // The count stands, also if this worker dies too.
        continue;
      }
      QueueRow row = rows.get(0);
      int counted = crashes.counts().getOrDefault(row.id(), 0);
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

  private CrashLedger.Crashes crashes(Connection connection, List<PickedRow> picked)
      throws SQLException {
    List<PickedRow> touched = picked.stream().filter(row -> row.lastXid() != 0).toList();
    return touched.isEmpty() ? CrashLedger.Crashes.NONE : ledger.crashes(connection, touched);
  }

  /** The searches of one claim, under its witness. */
  private final class Search {
    private final Connection connection;
    private long witness;

    Search(Connection connection, long witness) {
      this.connection = connection;
      this.witness = witness;
    }

    List<PickedRow> batch(int batch) throws SQLException {
      long start = window.now();
      String from = window.from(start);
      List<PickedRow> picked =
          find(
              sql.claim,
              statement -> {
                statement.setString(1, from);
                statement.setInt(2, batch);
                return 3;
              });
      window.searched(from, start, window.now(), picked.isEmpty() ? null : picked.get(0).rank());
      return ours(picked);
    }

    List<PickedRow> one(long id) throws SQLException {
      return ours(
          find(
              sql.claimOne,
              statement -> {
                statement.setLong(1, id);
                return 2;
              }));
    }

    private List<PickedRow> find(String text, Binding binding) throws SQLException {
      try (PreparedStatement statement = connection.prepareStatement(text)) {
        int next = binding.to(statement);
        while (true) {
          statement.setLong(next, witness);
          List<PickedRow> picked = new ArrayList<>();
          if (read(statement, picked)) {
            picked.sort(PickedRow.SERVICE);
            return picked;
          }
          // Swept away, or still locked by a session that we have lost.
          connection.rollback();
          witness = witnesses.add(connection);
        }
      }
    }

    /** False if there are rows, and the witness was not there. */
    private static boolean read(PreparedStatement statement, List<PickedRow> picked)
        throws SQLException {
      try (ResultSet result = QueueCalls.rows(statement)) {
        while (result.next()) {
          picked.add(PickedRow.read(result));
          result.getLong(9);
          if (result.wasNull()) {
            return false;
          }
        }
        return true;
      }
    }

    private List<PickedRow> ours(List<PickedRow> picked) throws SQLException {
      List<PickedRow> ours = picked.stream().filter(PickedRow::ours).toList();
      return sql.ordered ? new KeysOnLease(sql).without(connection, ours) : ours;
    }
  }

  @FunctionalInterface
  private interface Binding {
    /** Sets all parameters but the last, whose index it gives. */
    int to(PreparedStatement statement) throws SQLException;
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
