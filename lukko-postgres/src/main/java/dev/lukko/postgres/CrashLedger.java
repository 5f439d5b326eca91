package dev.lukko.postgres;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Counts how many workers died over which row.
 *
 * <p>A worker that dies takes its transaction with it, and what it wrote. What stays is the number
 * of that transaction in the header of each row that it had locked: the system column {@code xmax},
 * which a lock sets and nobody clears; and the same number in its {@linkplain Witnesses witness}. A
 * claim that ends in any other way commits, if only the locks: so a claim that locks a row and
 * finds there the number of a transaction that was aborted, and a witness that it was a claim's,
 * knows that a worker ended without a word, and commits that here before anything else. Claims of
 * rows that nobody ever touched, nearly all, find zero there and have nothing to ask.
 *
 * <p>The evidence can be lost (a vacuum that freezes the row, a server that crashed); then one try
 * is not counted. Immutable.
 */
final class CrashLedger {
  private final String queue;
  private final String count;
  private final String settle;

  CrashLedger(String schema, String queue) {
    this.queue = queue;
    String table = schema + ".queue_crash";
    // The number in a row has 32 bits: it means the latest transaction before now that ends so.
    // An outcome that is long forgotten is null, and no crash.
    count =
        """
        WITH seen AS MATERIALIZED (
          SELECT s.id, s.xid AS short, n.next - ((n.next - s.xid) & 4294967295) AS xid, n.next
          FROM unnest(?::bigint[], ?::bigint[]) AS s (id, xid),
            (SELECT txid_snapshot_xmax(txid_current_snapshot()) AS next) AS n
        ), aborted AS MATERIALIZED (
          SELECT id, short FROM seen
          WHERE CASE WHEN xid > 2 AND xid < next THEN txid_status(xid) END = 'aborted'
        ), noticed AS (
          INSERT INTO ${table} AS c (queue, id, crashes)
          SELECT ?::text, id, 1 FROM aborted
          WHERE EXISTS (SELECT 1 FROM ${witness} w WHERE w.xmax::text::bigint = short)
          ON CONFLICT (queue, id)
            DO UPDATE SET crashes = c.crashes + 1, noticed_at = clock_timestamp()
          RETURNING id, crashes
        )
        SELECT id, crashes, true FROM noticed
        UNION ALL
        SELECT c.id, c.crashes, false FROM ${table} c WHERE c.queue = ?
          AND c.id IN (SELECT id FROM seen EXCEPT SELECT id FROM noticed)
        """
            .replace("${table}", table)
            .replace("${witness}", schema + ".queue_witness");
    settle = "DELETE FROM " + table + " WHERE queue = ? AND id = ?";
  }

  /**
   * What is known of some rows.
   *
   * @param counts how many workers have died over each; rows without any are left out
   * @param isNews whether some of that was noticed just now: commit before anything else
   */
  record Crashes(Map<Long, Integer> counts, boolean isNews) {
    static final Crashes NONE = new Crashes(Map.of(), false);
  }

  /**
   * How many workers have died over each of these rows.
   *
   * @param connection of the transaction that has locked them
   */
  Crashes crashes(Connection connection, List<PickedRow> locked) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(count)) {
      statement.setFetchSize(0);
      Long[] ids = locked.stream().map(picked -> picked.row().id()).toArray(Long[]::new);
      Long[] xids = locked.stream().map(PickedRow::lastXid).toArray(Long[]::new);
      statement.setArray(1, connection.createArrayOf("bigint", ids));
      statement.setArray(2, connection.createArrayOf("bigint", xids));
      statement.setString(3, queue);
      statement.setString(4, queue);
      Map<Long, Integer> counts = new HashMap<>();
      boolean news = false;
      try (ResultSet result = statement.executeQuery()) {
        while (result.next()) {
          counts.put(result.getLong(1), result.getInt(2));
          news |= result.getBoolean(3);
        }
      }
      return new Crashes(counts, news);
    }
  }

  /** Forgets a row's count, in the transaction that decides about the row. */
  void settle(Connection connection, long id) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(settle)) {
      statement.setString(1, queue);
      statement.setLong(2, id);
      statement.executeUpdate();
    }
  }
}
