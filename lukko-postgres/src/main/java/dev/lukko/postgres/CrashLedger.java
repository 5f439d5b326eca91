package dev.lukko.postgres;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Counts, outside of the workers' transactions, how many workers died over which row.
 *
 * <p>A worker that dies takes its transaction with it, and what it wrote. What stays is the number
 * of that transaction in the header of each row that it had locked: the system column {@code xmax},
 * which a lock sets and nobody clears. A claim that ends in any other way commits, if only the
 * locks: so whoever locks a row and finds there the number of a transaction that was aborted knows
 * that a worker ended without a word, and writes it down here before anything else. Claims of rows
 * that nobody ever touched, nearly all, find zero there and have nothing to ask.
 *
 * <p>The evidence can be lost (a vacuum that freezes the row, a server that crashed before the lock
 * was on disk); then one try is not counted. A count needs not survive a crash of the server, so
 * writing it does not wait for the disk. One connection, taken when it is first needed and kept.
 * Thread-safe.
 */
final class CrashLedger implements AutoCloseable {
  private final DataSource dataSource;
  private final String queue;
  private final String count;
  private final String settle;
  private final ReentrantLock mutex = new ReentrantLock();
  private @Nullable Connection connection; // Guarded by the mutex.

  CrashLedger(DataSource dataSource, String schema, String queue) {
    this.dataSource = dataSource;
    this.queue = queue;
    String table = schema + ".queue_crash";
    // The number in a row has 32 bits: it means the latest transaction before now that ends so.
    // An outcome that is long forgotten is null, and no crash.
    count =
        """
        WITH seen AS MATERIALIZED (
          SELECT s.id, n.next - ((n.next - s.xid) & 4294967295) AS xid, n.next
          FROM unnest(?, ?) AS s (id, xid),
            (SELECT txid_snapshot_xmax(txid_current_snapshot()) AS next) AS n
        ), noticed AS (
          INSERT INTO ${table} AS c (queue, id, crashes)
          SELECT ?, id, 1 FROM seen
          WHERE CASE WHEN xid > 2 AND xid < next THEN txid_status(xid) END = 'aborted'
          ON CONFLICT (queue, id)
            DO UPDATE SET crashes = c.crashes + 1, noticed_at = clock_timestamp()
          RETURNING id, crashes
        )
        SELECT id, crashes FROM noticed
        UNION ALL
        SELECT c.id, c.crashes FROM ${table} c WHERE c.queue = ?
          AND c.id IN (SELECT id FROM seen EXCEPT SELECT id FROM noticed)
        """
            .replace("${table}", table);
    settle = "DELETE FROM " + table + " WHERE queue = ? AND id = ?";
  }

  /**
   * How many workers have died over each of these rows; rows without any are left out.
   *
   * @param locked rows that the caller's transaction has locked
   */
  Map<Long, Integer> crashes(List<PickedRow> locked) throws SQLException {
    return call(
        on -> {
          try (PreparedStatement statement = on.prepareStatement(count)) {
            Long[] ids = locked.stream().map(picked -> picked.row().id()).toArray(Long[]::new);
            Long[] xids = locked.stream().map(PickedRow::lastXid).toArray(Long[]::new);
            statement.setArray(1, on.createArrayOf("bigint", ids));
            statement.setArray(2, on.createArrayOf("bigint", xids));
            statement.setString(3, queue);
            statement.setString(4, queue);
            Map<Long, Integer> crashes = new HashMap<>();
            try (ResultSet result = statement.executeQuery()) {
              while (result.next()) {
                crashes.put(result.getLong(1), result.getInt(2));
              }
            }
            return crashes;
          }
        });
  }

  /** Forgets a row's count, in the transaction that decides about the row. */
  void settle(Connection transaction, long id) throws SQLException {
    try (PreparedStatement statement = transaction.prepareStatement(settle)) {
      statement.setString(1, queue);
      statement.setLong(2, id);
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
          statement.execute("SET synchronous_commit = off");
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
          statement.execute("RESET synchronous_commit"); // It may go back into a pool.
        } catch (SQLException broken) {
          System.getLogger(CrashLedger.class.getName())
              .log(System.Logger.Level.DEBUG, "the ledger's connection was broken", broken);
        }
        PgConnector.closeQuietly(open);
      }
    } finally {
      mutex.unlock();
    }
  }
}
