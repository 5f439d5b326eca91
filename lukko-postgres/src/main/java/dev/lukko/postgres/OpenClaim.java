package dev.lukko.postgres;

import dev.lukko.LockException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** A claim and its transaction. */
final class OpenClaim implements SkipLockedQueue.Claim {
  private final Connection connection;
  private final QueueSql sql;
  private final CrashLedger ledger;
  private final Taken taken;
  private final Backoff backoff;
  private final Set<Long> ids;
  private final Set<Long> finished = new TreeSet<>();
  private final Map<Long, FailureCall> failures = new TreeMap<>();
  private boolean over;

  /**
   * What was taken.
   *
   * @param rows the rows
   * @param crashes how many tries of the one row, if it is one, are counted in the ledger only
   * @param suspect whether the ledger knows of it
   */
  record Taken(List<QueueRow> rows, int crashes, boolean suspect) {
    static final Taken NOTHING = new Taken(List.of(), 0, false);
  }

  OpenClaim(Connection connection, QueueSql sql, CrashLedger ledger, Taken taken, Backoff backoff) {
    this.connection = connection;
    this.sql = sql;
    this.ledger = ledger;
    this.taken = taken;
    this.ids = taken.rows().stream().map(QueueRow::id).collect(Collectors.toSet());
    this.backoff = backoff;
  }

  @Override
  public List<QueueRow> rows() {
    return taken.rows();
  }

  @Override
  public Connection connection() {
    ensureOpen();
    return connection;
  }

  private void ensureOpen() {
    if (over) {
      throw new IllegalStateException("the claim is committed or closed");
    }
  }

  @Override
  public void finish(List<QueueRow> rows) {
    ensureOpen();
    rows.forEach(this::ensureOurs);
    rows.forEach(row -> finished.add(row.id())); // Goes to the server with the commit.
    rows.forEach(row -> failures.remove(row.id())); // The last word counts.
  }

  private void ensureOurs(QueueRow row) {
    if (!ids.contains(row.id())) {
      throw new IllegalArgumentException(
          "row is " + row.id() + "; it must be one of the rows of this claim");
    }
  }

  @Override
  public void fail(QueueRow row, String error) {
    ensureOpen();
    ensureOurs(row);
    // Goes to the server with the commit, too. The row's count has the crashes in it already.
    failures.put(row.id(), new FailureCall(sql, row, error, backoff.after(row.attempts() + 1)));
    finished.remove(row.id());
  }

  @Override
  public void commit() {
    ensureOpen();
    try {
      boolean plain = failures.isEmpty() && !taken.suspect();
      if (plain && !finished.isEmpty()) {
        finish(sql.finishAndCommit);
      } else if (!plain) {
        decide();
      }
      connection.commit(); // Costs nothing where the last statement was a commit already.
      over = true;
    } catch (SQLException failure) {
      throw new LockException("the claim could not be committed: " + failure.getMessage(), failure);
    } finally {
      if (over) {
        leave(connection);
      }
    }
  }

  private void decide() throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(QueueSql.RELEASE_SAVEPOINT);
    }
    try (PreparedStatement statement = connection.prepareStatement(sql.fail)) {
      for (Map.Entry<Long, FailureCall> failed : failures.entrySet()) {
        int next = failed.getValue().bind(statement, taken.crashes() + 1);
        statement.setLong(next, failed.getKey());
        statement.addBatch();
      }
      statement.executeBatch();
    }
    if (!finished.isEmpty()) {
      finish(sql.finish);
    }
    if (taken.suspect() && failures.size() + finished.size() > 0) {
      ledger.settle(connection, taken.rows().get(0).id());
    }
  }

  private void finish(String text) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(text)) {
      statement.setArray(1, connection.createArrayOf("bigint", finished.toArray(Long[]::new)));
      statement.execute();
    }
  }

  @Override
  public void close() {
    if (over) {
      return;
    }
    over = true;
    if (!taken.rows().isEmpty()) {
      // Undoes the work, but keeps the locks to the end: a commit, and so no crash.
      try (Statement statement = connection.createStatement()) {
        statement.execute(QueueSql.GIVE_BACK);
      } catch (SQLException ended) {
        System.getLogger(OpenClaim.class.getName())
            .log(System.Logger.Level.DEBUG, "the transaction of a claim had ended", ended);
      }
    }
    leave(connection);
  }

  /** Gives a connection back, without what may be left of its transaction. */
  static void leave(Connection connection) {
    try {
      connection.rollback(); // Costs nothing when the transaction is over.
      connection.setAutoCommit(true);
    } catch (SQLException broken) {
      System.getLogger(OpenClaim.class.getName())
          .log(System.Logger.Level.DEBUG, "the connection of a claim was broken", broken);
    }
    PgConnector.closeQuietly(connection);
  }
}
