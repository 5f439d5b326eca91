package dev.lukko.postgres;

import dev.lukko.LockException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A claim and its transaction. */
final class OpenClaim implements SkipLockedQueue.Claim {
  private final Connection connection;
  private final QueueSql sql;
  private final ClaimLedger ledger;
  private final Taken taken;
  private final Backoff backoff;
  private final Set<Long> ids;
  private final Set<Long> finished = new TreeSet<>();
  private boolean over;

  /**
   * What was taken.
   *
   * @param rows the rows
   * @param claimId the ledger's number, or 0 for no rows
   * @param crashes how many workers died over the one row, if it is one
   */
  record Taken(List<QueueRow> rows, long claimId, int crashes) {
    static final Taken NOTHING = new Taken(List.of(), 0, 0);
  }

  OpenClaim(Connection connection, QueueSql sql, ClaimLedger ledger, Taken taken, Backoff backoff) {
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
    // The row's count has the crashes in it already; the table's has not.
    FailureCall call = new FailureCall(sql, row, error, backoff.after(row.attempts() + 1));
    try (PreparedStatement statement = connection.prepareStatement(sql.fail)) {
      int next = call.bind(statement, taken.crashes() + 1);
      statement.setLong(next, row.id());
      statement.executeUpdate();
    } catch (SQLException failure) {
      throw new LockException("row " + row.id() + " could not be failed", failure);
    }
  }

  @Override
  public void commit() {
    ensureOpen();
    try {
      if (taken.crashes() > 0) {
        run(sql.finish, finished.toArray(Long[]::new), 0);
        ledger.settle(connection, taken.claimId(), taken.rows().get(0).id());
      } else if (!finished.isEmpty()) {
        run(sql.finishAndCommit, finished.toArray(Long[]::new), taken.claimId());
      } else if (taken.claimId() != 0) {
        run(sql.forgetAndCommit, null, taken.claimId());
      }
      connection.commit(); // Costs nothing where the last statement was a commit already.
      over = true;
    } catch (SQLException failure) {
      throw new LockException("the claim could not be committed", failure);
    } finally {
      if (over) {
        giveBack();
      }
    }
  }

  private void run(String text, Long @Nullable [] rows, long claimId) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(text)) {
      int next = 1;
      if (rows != null) {
        statement.setArray(next++, connection.createArrayOf("bigint", rows));
      }
      if (claimId != 0) {
        statement.setLong(next, claimId);
      }
      statement.execute();
    }
  }

  @Override
  public void close() {
    if (over) {
      return;
    }
    over = true;
    try {
      if (taken.claimId() != 0) {
        // First, while the rows are still locked: nobody may take this for a crash.
        ledger.remove(taken.claimId());
      }
      connection.rollback();
    } catch (SQLException broken) {
      System.getLogger(OpenClaim.class.getName())
          .log(System.Logger.Level.DEBUG, "the transaction of a claim was broken", broken);
    } finally {
      giveBack();
    }
  }

  private void giveBack() {
    try {
      connection.setAutoCommit(true);
    } catch (SQLException broken) {
      System.getLogger(OpenClaim.class.getName())
          .log(System.Logger.Level.DEBUG, "the connection of a claim was broken", broken);
    }
    PgConnector.closeQuietly(connection);
  }
}
