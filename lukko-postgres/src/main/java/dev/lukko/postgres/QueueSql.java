package dev.lukko.postgres;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The statements of a queue, written for its table.
 *
 * <p>The order of service is the rank, then the key. The rank is the time of readiness less a head
 * start for each step of priority: so a row of low priority is overtaken only by rows that became
 * ready within that head start after it, and none starves; and since the rank does not change with
 * time, an index gives the order.
 */
final class QueueSql {
  /**
   * Everything after this can be undone without giving up the locks, so that a claim that is closed
   * can end with a commit: only a worker that died leaves the number of an aborted transaction
   * behind. See {@link CrashLedger}.
   */
  private static final String SAVEPOINT = "SAVEPOINT lukko_claim";

  /** Before the rows change: a subtransaction's number must not get into their headers. */
  static final String RELEASE_SAVEPOINT = "RELEASE SAVEPOINT lukko_claim";

  static final String UNDO = "ROLLBACK TO SAVEPOINT lukko_claim";
  static final String GIVE_BACK = UNDO + "; COMMIT";

  final String insert;

  /** The same in a transaction of its own. */
  final String insertAlone;

  final String pick;

  /** Opens a claim: its witness, the rows, and a place to which its work can be rolled back. */
  final String claim;

  final String claimOne;
  final String lease;
  final String leaseChosen;

  /** Ends leases that ran out, of some keys, so that they cannot be renewed beside a claim. */
  final String revoke;

  /** The keys of which a row is on lease, behind {@link #revoke} of the same. */
  final String keysOnLease;

  final String finish;
  final String finishLeased;

  /** Finishes rows and commits, in one round trip. */
  final String finishAndCommit;

  final String fail;
  final String failLeased;
  final String renew;
  final String bury;
  final String deadLetters;
  final String revive;
  final boolean ordered;

  private final QueueTable table;
  private final String queue;
  private final String open;
  private final String rank;
  private final String columns;

  QueueSql(
      QueueTable table,
      String queue,
      String schema,
      Duration ageing,
      int maxAttempts,
      boolean ordered,
      boolean notify) {
    this.table = table;
    this.queue = queue;
    this.ordered = ordered;
    String step = " * interval '" + ageing.toMillis() + " milliseconds'";
    this.open =
        (table.queue == null ? "" : "q." + table.queue + " = '" + queue + "' AND ")
            + "q."
            + table.deadAt
            + " IS NULL"
            + (table.doneAt == null ? "" : " AND q." + table.doneAt + " IS NULL");
    String computedRank =
        table.priority == null
            ? "q." + table.readyAt
            : "q." + table.readyAt + " - q." + table.priority + step;
    this.rank = table.rank == null ? computedRank : "q." + table.rank;
    this.columns =
        "q."
            + table.id
            + ", "
            + orElse(table.payload, "''")
            + ", q."
            + table.attempts
            + ", "
            + orElse(table.priority, "0")
            + ", "
            + orElse(table.orderingKey, "NULL::text")
            + " AS lukko_key";

    insert =
        "INSERT INTO "
            + table.table
            + " (queue, payload, priority, ordering_key, ready_at, rank)"
            + " SELECT '"
            + queue
            + "', ?, p, ?, t, t - p"
            + step
            + " FROM (SELECT ?::integer AS p, clock_timestamp() + ?::interval AS t) AS job"
            + " RETURNING id"
            + (notify ? ", pg_notify('" + QueueSignal.CHANNEL + "', '" + ledgerName() + "')" : "");
    insertAlone = QueueCalls.alone(insert);
    String found = candidates("LIMIT ? FOR UPDATE SKIP LOCKED", true, columns);
    pick = QueueCalls.BEGIN + withOrdering(found, "");
    // Runs once, with the first row. The witness is locked by the transaction that locks the rows.
    String witness =
        ", (SELECT w.id FROM " + schema + ".queue_witness w WHERE w.id = ? FOR UPDATE SKIP LOCKED)";
    claim = QueueCalls.BEGIN + withOrdering(found, witness) + "; " + SAVEPOINT;
    claimOne =
        QueueCalls.BEGIN
            + withOrdering(
                "SELECT "
                    + columns
                    + ", "
                    + rank
                    + " AS rank, q.xmax FROM "
                    + table.table
                    + " q WHERE "
                    + open
                    + ready()
                    + " AND q."
                    + table.id
                    + " = ?"
                    + (ordered ? firstOfKey() : "")
                    + " FOR UPDATE SKIP LOCKED",
                witness)
            + "; "
            + SAVEPOINT;
    String token = "nextval('" + schema + ".fencing_token')";
    lease =
        QueueCalls.alone(
            "WITH picked AS MATERIALIZED ("
                + candidates(
                    "LIMIT ? FOR UPDATE SKIP LOCKED", false, "q." + table.id + " AS picked_id")
                + "), granted AS MATERIALIZED (SELECT "
                + token
                + " AS token)"
                + leaseUpdate(
                    "picked, granted", "q." + table.id + " = picked.picked_id", "granted.token"));
    leaseChosen =
        "WITH granted AS MATERIALIZED (SELECT "
            + token
            + " AS token)"
            + leaseUpdate(
                "granted", "q." + table.id + " = ANY (?)" + noneOnLease(), "granted.token");
    String leased =
        " WHERE "
            + open
            + " AND q."
            + table.orderingKey
            + " = ANY (?::text[]) AND q."
            + table.leaseToken
            + " IS NOT NULL AND q."
            + table.readyAt;
    revoke =
        "UPDATE "
            + table.table
            + " q SET "
            + table.leaseToken
            + " = NULL"
            + leased
            + " <= clock_timestamp()";
    keysOnLease =
        revoke
            + "; SELECT q."
            + table.orderingKey
            + " FROM "
            + table.table
            + " q"
            + leased
            + " > clock_timestamp()";
    String done =
        table.doneAt == null
            ? "DELETE FROM " + table.table + " q"
            : "UPDATE " + table.table + " q SET " + table.doneAt + " = clock_timestamp()";
    finish = done + " WHERE q." + table.id + " = ANY (?)";
    finishAndCommit = RELEASE_SAVEPOINT + "; " + finish + "; COMMIT";
    finishLeased =
        QueueCalls.alone(
            done + " WHERE q." + table.id + " = ANY (?) AND q." + table.leaseToken + " = ?");
    fail = failure(maxAttempts, table.attempts + " + ?", step) + " WHERE q." + table.id + " = ?";
    failLeased = QueueCalls.alone(fail + " AND q." + table.leaseToken + " = ?");
    renew =
        QueueCalls.alone(
            "UPDATE "
                + table.table
                + " q SET "
                + table.readyAt
                + " = clock_timestamp() + ?::interval"
                + " WHERE q."
                + table.id
                + " = ANY (?) AND q."
                + table.leaseToken
                + " = ?");
    bury =
        "UPDATE "
            + table.table
            + " q SET "
            + table.deadAt
            + " = clock_timestamp(), "
            + table.attempts
            + " = q."
            + table.attempts
            + " + ?"
            + (table.lastError == null ? "" : ", " + table.lastError + " = ?")
            + " WHERE q."
            + table.id
            + " = ANY (?)";
    deadLetters =
        QueueCalls.alone(
            "SELECT "
                + columns
                + ", "
                + rank
                + ", 0, true FROM "
                + table.table
                + " q WHERE "
                + (table.queue == null ? "" : "q." + table.queue + " = '" + queue + "' AND ")
                + "q."
                + table.deadAt
                + " IS NOT NULL ORDER BY q."
                + table.deadAt
                + ", q."
                + table.id
                + " LIMIT ?");
    revive =
        QueueCalls.alone(
            "UPDATE "
                + table.table
                + " q SET "
                + table.deadAt
                + " = NULL, "
                + table.attempts
                + " = 0, "
                + table.readyAt
                + " = clock_timestamp()"
                + (table.rank == null ? "" : ", " + table.rank + " = clock_timestamp()")
                + " WHERE q."
                + table.id
                + " = ? AND q."
                + table.deadAt
                + " IS NOT NULL");
  }

  /** Whether the table is the application's, which fills it itself. */
  boolean isForeign() {
    return table.queue == null;
  }

  /** What the ledger calls this queue. */
  String ledgerName() {
    return table.queue == null ? table.table : queue;
  }

  boolean hasErrors() {
    return table.lastError != null;
  }

  boolean hasLeases() {
    return table.leaseToken != null;
  }

  boolean hasRank() {
    return table.rank != null;
  }

  private static String orElse(@Nullable String column, String otherwise) {
    return column == null ? otherwise : "q." + column;
  }

  private String ready() {
    return " AND q." + table.readyAt + " <= now()";
  }

  private String candidates(String end, boolean withRank, String selected) {
    return "SELECT "
        + selected
        + (withRank ? ", " + rank + " AS rank, q.xmax" : "")
        + " FROM "
        + table.table
        + " q WHERE "
        + open
        + ready()
        + " AND "
        + rank
        + " >= ?::timestamptz"
        + (ordered ? firstOfKey() : "")
        + " ORDER BY "
        + rank
        + ", q."
        + table.id
        + " "
        + end;
  }

  /** Only the oldest row of each key may be taken; the others wait for it, and block nobody. */
  private String firstOfKey() {
    return " AND (q."
        + table.orderingKey
        + " IS NULL OR NOT EXISTS (SELECT 1 FROM "
        + table.table
        + " e WHERE "
        + open.replace("q.", "e.")
        + " AND e."
        + table.orderingKey
        + " = q."
        + table.orderingKey
        + " AND e."
        + table.id
        + " < q."
        + table.id
        + "))";
  }

  /**
   * Keeps others from the key until the transaction ends. Rows can become visible in another order
   * than that of their keys, so being the first is not enough. The rows are locked and fixed before
   * a lock function runs.
   */
  private String withOrdering(String picked, String witness) {
    String ours =
        ordered
            ? "CASE WHEN p.lukko_key IS NULL THEN true"
                + " ELSE pg_try_advisory_xact_lock(hashtextextended("
                + lockedQueue()
                + " || '/' || p.lukko_key, 4711)) END"
            : "true";
    return "WITH picked AS MATERIALIZED ("
        + picked
        + ") SELECT p.*, "
        + ours
        + witness
        + " FROM picked AS p";
  }

  /** What the locks of ordering keys call this queue: the same, however its table is spelled. */
  private String lockedQueue() {
    return table.queue == null ? "'" + table.table + "'::regclass::oid::text" : "'" + queue + "'";
  }

  private String noneOnLease() {
    return " AND NOT EXISTS (SELECT 1 FROM "
        + table.table
        + " o WHERE "
        + open.replace("q.", "o.")
        + " AND o."
        + table.orderingKey
        + " = q."
        + table.orderingKey
        + " AND o."
        + table.id
        + " <> q."
        + table.id
        + " AND o."
        + table.leaseToken
        + " IS NOT NULL"
        + " AND o."
        + table.readyAt
        + " > clock_timestamp())";
  }

  /** Leaves the rank alone, so that no index changes and the row's page may be reused at once. */
  private String leaseUpdate(String from, String where, String token) {
    return " UPDATE "
        + table.table
        + " q SET "
        + table.readyAt
        + " = clock_timestamp() + ?::interval, "
        + table.attempts
        + " = q."
        + table.attempts
        + " + 1, "
        + table.leaseToken
        + " = "
        + token
        + " FROM "
        + from
        + " WHERE "
        + where
        + " RETURNING "
        + columns
        + ", "
        + rank
        + ", 0, true, q."
        + table.leaseToken;
  }

  private String failure(int maxAttempts, String attempts, String step) {
    String ready = "clock_timestamp() + ?::interval";
    String newRank =
        table.rank == null
            ? ""
            : ", " + table.rank + " = " + ready + " - q." + table.priority + step;
    return "UPDATE "
        + table.table
        + " q SET "
        + table.attempts
        + " = q."
        + attempts
        + ", "
        + table.deadAt
        + " = CASE WHEN q."
        + attempts
        + " >= "
        + maxAttempts
        + " THEN clock_timestamp() END"
        + ", "
        + table.readyAt
        + " = "
        + ready
        + newRank
        + (table.leaseToken == null ? "" : ", " + table.leaseToken + " = NULL")
        + (table.lastError == null ? "" : ", " + table.lastError + " = ?");
  }
}
