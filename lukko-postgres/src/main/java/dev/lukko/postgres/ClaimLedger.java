package dev.lukko.postgres;

import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Remembers, outside of the workers' transactions, which rows are in whose hands.
 *
 * <p>A worker that dies takes its transaction with it, and with that every trace of having tried.
 * So each claim is written down here, in a transaction of its own, and crossed out in the very
 * transaction that finishes the rows. Whoever gets a row's lock while another claim still lists it
 * knows that that claim ended without a word: the attempt is counted, and the row that kills its
 * workers is found.
 *
 * <p>It needs not survive a crash of the server, so it does not wait for the disk. One connection,
 * taken when it is first needed and kept.
 *
 * <p>Every claim leaves a dead entry behind, and while an old snapshot is open anywhere in the
 * database, no vacuum may remove it. So a look at the ledger begins at the oldest entry that was
 * alive a while ago; the numbers only rise. The while is there for an entry that got its number and
 * was not yet to be seen.
 */
final class ClaimLedger implements AutoCloseable {
  private static final long MOVE_NANOS = 1_000_000_000;

  private final DataSource dataSource;
  private final String queue;
  private final String worker;
  private final LongSupplier nanos;
  private final String oldest;
  private final String record;
  private final String remove;
  private final String settle;
  private final ReentrantLock mutex = new ReentrantLock();
  private @Nullable Connection connection; // These five are guarded by the mutex.
  private long from;
  private long nextFrom;
  private long movedAt;
  private long last;

  ClaimLedger(
      DataSource dataSource, String schema, String queue, String worker, LongSupplier nanos) {
    this.dataSource = dataSource;
    this.nanos = nanos;
    this.movedAt = nanos.getAsLong();
    this.queue = queue;
    this.worker = worker;
    String table = schema + ".queue_claim";
    record =
        "WITH other AS MATERIALIZED (SELECT claim_id, ids FROM "
            + table
            + " WHERE claim_id >= ? AND queue = ? AND ids && ?), mine AS (INSERT INTO "
            + table
            + " (claim_id, queue, ids, worker) VALUES (nextval('"
            + schema
            + ".fencing_token'), ?, ?, ?) RETURNING claim_id)"
            + " SELECT mine.claim_id, other.ids FROM mine LEFT JOIN other ON true";
    oldest = "SELECT min(claim_id) FROM " + table + " WHERE claim_id >= ?";
    remove = "DELETE FROM " + table + " WHERE claim_id = ?";
    settle =
        "WITH without AS (UPDATE "
            + table
            + " SET ids = array_remove(ids, ?)"
            + " WHERE queue = ? AND ids @> ARRAY[?] AND claim_id <> ? AND cardinality(ids) > 1)"
            + " DELETE FROM "
            + table
            + " WHERE claim_id = ? OR (queue = ? AND ids = ARRAY[?])";
  }

  /**
   * An entry of ours, and what it met.
   *
   * @param claimId its number
   * @param crashes for each of the rows, how many claims ended without a word; rows without any are
   *     left out
   */
  record Entry(long claimId, Map<Long, Integer> crashes) {}

  /** Writes a claim down. The rows are locked already by the caller's transaction. */
  Entry record(List<Long> ids) throws SQLException {
    return call(
        on -> {
          moveOn(on);
          Array array = on.createArrayOf("bigint", ids.toArray());
          try (PreparedStatement statement = on.prepareStatement(record)) {
            statement.setLong(1, from);
            statement.setString(2, queue);
            statement.setArray(3, array);
            statement.setString(4, queue);
            statement.setArray(5, array);
            statement.setString(6, worker);
            try (ResultSet result = statement.executeQuery()) {
              Entry entry = read(result, ids);
              last = entry.claimId();
              return entry;
            }
          }
        });
  }

  private void moveOn(Connection on) throws SQLException {
    long now = nanos.getAsLong();
    if (now - movedAt < MOVE_NANOS) {
      return;
    }
    movedAt = now;
    from = nextFrom; // A whole while old, or older.
    try (PreparedStatement statement = on.prepareStatement(oldest)) {
      statement.setLong(1, from);
      try (ResultSet result = statement.executeQuery()) {
        result.next();
        long alive = result.getLong(1);
        nextFrom = result.wasNull() ? last : alive;
      }
    }
  }

  /** Where a look at the ledger begins. */
  long from() {
    mutex.lock();
    try {
      return from;
    } finally {
      mutex.unlock();
    }
  }

  private static Entry read(ResultSet result, List<Long> ids) throws SQLException {
    long claimId = 0;
    Map<Long, Integer> crashes = new HashMap<>();
    while (result.next()) {
      claimId = result.getLong(1);
      Array other = result.getArray(2);
      if (other != null) {
        for (Long id : (Long[]) other.getArray()) {
          if (ids.contains(id)) {
            crashes.merge(id, 1, Integer::sum);
          }
        }
      }
    }
    return new Entry(claimId, crashes);
  }

  /** Crosses a claim out before its rows are given back untouched. */
  void remove(long claimId) throws SQLException {
    call(
        on -> {
          try (PreparedStatement statement = on.prepareStatement(remove)) {
            statement.setLong(1, claimId);
            return statement.executeUpdate();
          }
        });
  }

  /**
   * Crosses a claim of one suspect row out in the worker's own transaction, and the row out of the
   * dead claims too.
   */
  void settle(Connection transaction, long claimId, long id) throws SQLException {
    try (PreparedStatement statement = transaction.prepareStatement(settle)) {
      statement.setLong(1, id);
      statement.setString(2, queue);
      statement.setLong(3, id);
      statement.setLong(4, claimId);
      statement.setLong(5, claimId);
      statement.setString(6, queue);
      statement.setLong(7, id);
      statement.executeUpdate();
    }
  }

  @FunctionalInterface
  private interface Work<T> {
    T on(Connection connection) throws SQLException;
  }

  private <T> T call(Work<T> work) throws SQLException {
    mutex.lock();
    try {
      Connection open = connection;
      if (open == null || open.isClosed()) {
        open = dataSource.getConnection();
        open.setAutoCommit(true);
        try (Statement statement = open.createStatement()) {
          // The planner knows nothing of the dead, and would read past all of them.
          statement.execute("SET synchronous_commit = off; SET enable_seqscan = off");
        }
        connection = open;
      }
      try {
        return work.on(open);
      } catch (SQLException failure) {
        connection = null;
        PgConnector.closeQuietly(open);
        throw failure;
      }
    } finally {
      mutex.unlock();
    }
  }

  @Override
  public void close() {
    mutex.lock();
    try {
      Connection open = connection;
      connection = null;
      if (open != null) {
        try (Statement statement = open.createStatement()) {
          // It may go back into a pool.
          statement.execute("RESET synchronous_commit; RESET enable_seqscan");
        } catch (SQLException broken) {
          System.getLogger(ClaimLedger.class.getName())
              .log(System.Logger.Level.DEBUG, "the ledger's connection was broken", broken);
        }
        PgConnector.closeQuietly(open);
      }
    } finally {
      mutex.unlock();
    }
  }
}
