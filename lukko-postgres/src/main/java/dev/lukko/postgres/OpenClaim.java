package dev.lukko.postgres;

import dev.lukko.LockException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A claim and its transaction. */
final class OpenClaim implements SkipLockedQueue.Claim {
  private static final System.Logger LOG = System.getLogger(OpenClaim.class.getName());

  private final BorrowedConnection borrowed;
  private final QueueSql sql;
  private final CrashLedger ledger;
  private final Taken taken;
  private final Backoff backoff;
  private final Runnable onOrderlyEnd;
  private final Set<Long> ids;
  private final Set<Long> finished = new TreeSet<>();
  private final Map<Long, FailureCall> failures = new TreeMap<>();
  private @Nullable QueueRow inWork;
  private boolean sharedWork;
  private boolean failedBesideSharedWork;
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

  /**
   * A claim of what was taken.
   *
   * @param onOrderlyEnd is called once if the claim ends in a way that is no crash
   */
  OpenClaim(
      BorrowedConnection borrowed,
      QueueSql sql,
      CrashLedger ledger,
      Taken taken,
      Backoff backoff,
      Runnable onOrderlyEnd) {
    this.borrowed = borrowed;
    this.sql = sql;
    this.ledger = ledger;
    this.taken = taken;
    this.ids = taken.rows().stream().map(QueueRow::id).collect(Collectors.toSet());
    this.backoff = backoff;
    this.onOrderlyEnd = onOrderlyEnd;
  }

  @Override
  public List<QueueRow> rows() {
    return taken.rows();
  }

  @Override
  public Connection connection() {
    ensureOpen();
    sharedWork |= inWork == null;
    return borrowed.connection();
  }

  private void ensureOpen() {
    if (over) {
      throw new IllegalStateException("the claim is committed or closed");
    }
  }

  private void ensureBetweenRows() {
    ensureOpen();
    if (inWork != null) {
      throw new IllegalStateException(
          "the work on row " + inWork.id() + " has not ended; this may be called behind it");
    }
  }

  @Override
  public Optional<Throwable> work(QueueRow row, SkipLockedQueue.RowWork work) {
    ensureBetweenRows();
    ensureOurs(row);
    inWork = row;
    try {
      return Optional.ofNullable(attempt(row, work));
    } catch (SQLException failure) {
      throw new LockException(
          "the savepoint of row " + row.id() + " failed: " + failure.getMessage(), failure);
    } finally {
      inWork = null;
    }
  }

  private @Nullable Throwable attempt(QueueRow row, SkipLockedQueue.RowWork work)
      throws SQLException {
    control("SAVEPOINT lukko_row");
    Throwable thrown;
    try {
      work.on(row, borrowed.connection());
      control("RELEASE SAVEPOINT lukko_row"); // Refused if a statement of the work has failed.
      finished.add(row.id());
      failures.remove(row.id());
      return null;
    } catch (Throwable failure) {
      thrown = failure;
    }
    try {
      // Not in one: where the driver asks for the types first, a failed transaction refuses that.
      control("ROLLBACK TO SAVEPOINT lukko_row");
      control("RELEASE SAVEPOINT lukko_row");
    } catch (SQLException broken) {
      broken.addSuppressed(thrown);
      throw broken;
    }
    if (thrown instanceof InterruptedException) {
      Thread.currentThread().interrupt(); // No fault of the row: it is given back as it was.
      return thrown;
    }
    failures.put(row.id(), failure(row, String.valueOf(thrown)));
    finished.remove(row.id());
    if (thrown instanceof VirtualMachineError broken && !(thrown instanceof StackOverflowError)) {
      throw broken;
    }
    return thrown;
  }

  private void control(String statement) throws SQLException {
    borrowed.call(
        connection -> {
          BorrowedConnection.execute(connection, statement);
          return true;
        });
  }

  @Override
  public void finish(List<QueueRow> rows) {
    ensureBetweenRows();
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
    ensureBetweenRows();
    ensureOurs(row);
    failures.put(row.id(), failure(row, error)); // Goes to the server with the commit, too.
    finished.remove(row.id());
    failedBesideSharedWork |= sharedWork;
  }

  private FailureCall failure(QueueRow row, String error) {
    // The row's count has the crashes in it already.
    return new FailureCall(sql, row, error, backoff.after(row.attempts() + 1));
  }

  @Override
  public void commit() {
    ensureBetweenRows();
    try {
      borrowed.call(
          connection -> {
            decide(connection);
            connection.commit(); // Costs nothing where the last statement was a commit already.
            return true;
          });
      over = true;
      onOrderlyEnd.run();
    } catch (SQLException failure) {
      throw new LockException("the claim could not be committed: " + failure.getMessage(), failure);
    } finally {
      if (over) {
        borrowed.giveBack();
      }
    }
  }

  private void decide(Connection connection) throws SQLException {
    if (failedBesideSharedWork) {
      undoSharedWork(connection);
    }
    boolean plain = failures.isEmpty() && !taken.suspect();
    if (!plain) {
      decideEach(connection);
    } else if (!finished.isEmpty()) {
      finish(connection, sql.finishAndCommit);
    }
  }

  /** What belongs to the failed row cannot be told from what belongs to the others. */
  private void undoSharedWork(Connection connection) throws SQLException {
    LOG.log(
        System.Logger.Level.WARNING,
        "rows {0} have failed beside work on connection(), all of which is undone; what belongs to"
            + " one row should be done in work(row, ...)",
        failures.keySet());
    BorrowedConnection.execute(connection, QueueSql.UNDO);
    finished.clear();
  }

  private void decideEach(Connection connection) throws SQLException {
    BorrowedConnection.execute(connection, QueueSql.RELEASE_SAVEPOINT);
    try (PreparedStatement statement = connection.prepareStatement(sql.fail)) {
      for (Map.Entry<Long, FailureCall> failed : failures.entrySet()) {
        int next = failed.getValue().bind(statement, taken.crashes() + 1);
        statement.setLong(next, failed.getKey());
        statement.addBatch();
      }
      statement.executeBatch();
    }
    if (!finished.isEmpty()) {
      finish(connection, sql.finish);
    }
    if (taken.suspect() && failures.size() + finished.size() > 0) {
      ledger.settle(connection, taken.rows().get(0).id());
    }
  }

  private void finish(Connection connection, String text) throws SQLException {
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
    try {
      if (!taken.rows().isEmpty()) {
        // Undoes the work, but keeps the locks to the end: a commit, and so no crash.
        borrowed.cleanUp(
            connection -> {
              BorrowedConnection.execute(connection, QueueSql.GIVE_BACK);
              return true;
            });
      }
      onOrderlyEnd.run();
    } catch (SQLException ended) {
      LOG.log(System.Logger.Level.DEBUG, "the transaction of a claim had ended", ended);
    } finally {
      borrowed.giveBack();
    }
  }
}
