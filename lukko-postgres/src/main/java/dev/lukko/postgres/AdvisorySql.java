package dev.lukko.postgres;

/**
 * The statements of the advisory locks.
 *
 * <p>Rules that all of them keep. A lock function stands in the select list of a query whose rows
 * are fixed beforehand (no row, one, an array, a materialized step), never in a {@code WHERE} and
 * never beside a {@code LIMIT}: the planner may call it for rows that are then thrown away. What
 * must come first stands in a {@code CASE}, the one construct with a promised order. None of them
 * waits for a lock, so none keeps a snapshot or a transaction open.
 */
final class AdvisorySql {
  /** The answer instead of a token if the statement ran in another server session than ours. */
  static final long FOREIGN_SESSION = -1;

  /** The channel on which a release is announced, if anybody waits for it. */
  static final String CHANNEL = "lukko_released";

  /** How many holders of one lock are shown at most. */
  private static final int MAX_HOLDERS = 100;

  /** For a direct connection. */
  final String tryOne;

  final String tryOneShared;

  /** For a connection through a pooler, which could give us another server session. */
  final String tryOneAtHome;

  final String tryOneSharedAtHome;
  final String tryMany;
  final String tryManyShared;
  final String unlock = "SELECT pg_advisory_unlock(?)";
  final String unlockShared = "SELECT pg_advisory_unlock_shared(?)";
  final String unlockAndAsk = unlockAndAsk("pg_advisory_unlock");
  final String unlockAndAskShared = unlockAndAsk("pg_advisory_unlock_shared");
  final String unlockAllAndAsk = unlockAllAndAsk("pg_advisory_unlock");
  final String unlockAllAndAskShared = unlockAllAndAsk("pg_advisory_unlock_shared");
  final String giveBack = giveBack("pg_advisory_unlock");
  final String giveBackShared = giveBack("pg_advisory_unlock_shared");
  final String startWaiting = "SELECT pg_try_advisory_lock_shared(?, ?)";
  final String stopWaiting = "SELECT pg_advisory_unlock_shared(?, ?)";
  final String probe =
      "SELECT CASE WHEN current_setting('lukko.session', true) = ? THEN pg_backend_pid()"
          + " ELSE -1 END";
  final String announce =
      "SELECT pg_notify('" + CHANNEL + "', k::text) FROM unnest(?::bigint[]) AS k";
  final String publish;
  final String withdraw;
  final String sweep;
  final String holders;
  final String allHolders;

  AdvisorySql(String schema) {
    String token = "nextval('" + schema + ".fencing_token')";
    tryOne = tryOne("pg_try_advisory_lock", token);
    tryOneShared = tryOne("pg_try_advisory_lock_shared", token);
    tryOneAtHome = tryOneAtHome("pg_try_advisory_lock", token);
    tryOneSharedAtHome = tryOneAtHome("pg_try_advisory_lock_shared", token);
    tryMany = tryMany("pg_try_advisory_lock", token);
    tryManyShared = tryMany("pg_try_advisory_lock_shared", token);
    publish =
        "INSERT INTO "
            + schema
            + ".lock_holder (token, lock_key, pid, namespace, name, shared, description, since)"
            + " VALUES (?, ?, pg_backend_pid(), ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING";
    withdraw = "DELETE FROM " + schema + ".lock_holder WHERE lock_key = ANY (?) AND token = ?";
    sweep =
        "DELETE FROM "
            + schema
            + ".lock_holder h WHERE NOT EXISTS (SELECT 1 FROM pg_stat_activity a"
            + " WHERE a.pid = h.pid)";
    holders = holders(schema, "l.pid <> pg_backend_pid()", 1);
    allHolders = holders(schema, "true", MAX_HOLDERS);
  }

  private static String holders(String schema, String which, int limit) {
    return """
        SELECT l.pid, a.application_name, host(a.client_addr), h.namespace, h.name, h.description,
               h.since, k.lock
        FROM unnest(?::bigint[]) AS k (lock)
        JOIN pg_locks l ON l.classid::bigint = (k.lock >> 32) & 4294967295
          AND l.objid::bigint = k.lock & 4294967295
        LEFT JOIN pg_stat_activity a ON a.pid = l.pid
        LEFT JOIN ${s}.lock_holder h ON h.lock_key = k.lock AND h.pid = l.pid
        WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
          AND ${w}
          AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
        ORDER BY h.token DESC NULLS LAST
        LIMIT ${n}
        """
        .replace("${s}", schema)
        .replace("${w}", which)
        .replace("${n}", Integer.toString(limit));
  }

  String unlockAll(boolean shared, boolean ask) {
    if (ask) {
      return shared ? unlockAllAndAskShared : unlockAllAndAsk;
    }
    return shared ? giveBackShared : giveBack;
  }

  String unlock(boolean shared, boolean ask) {
    if (ask) {
      return shared ? unlockAndAskShared : unlockAndAsk;
    }
    return shared ? unlockShared : unlock;
  }

  private static String tryOne(String function, String token) {
    return "SELECT CASE WHEN " + function + "(?) THEN " + token + " END";
  }

  private static String tryOneAtHome(String function, String token) {
    return "SELECT CASE WHEN pg_backend_pid() <> ? THEN "
        + FOREIGN_SESSION
        + " ELSE CASE WHEN "
        + function
        + "(?) THEN "
        + token
        + " END END";
  }

  /** Tries one key after the other and stops at the first that is held. */
  private static String tryMany(String function, String token) {
    return """
    WITH RECURSIVE wanted AS MATERIALIZED (
      SELECT ?::bigint[] AS keys, pg_backend_pid() = ? AS home
    ), step (i, keys, ok) AS (
      SELECT 1, keys, CASE WHEN home THEN ${f}(keys[1]) END FROM wanted
      UNION ALL
      SELECT i + 1, keys, ${f}(keys[i + 1]) FROM step WHERE ok AND i < cardinality(keys)
    ), verdict AS MATERIALIZED (
      SELECT bool_and(ok) AS ok, count(*) AS tried FROM step
    )
    SELECT CASE WHEN ok IS NULL THEN -1 ELSE CASE WHEN ok THEN ${t} END END, tried FROM verdict
    """
        .replace("${f}", function)
        .replace("${t}", token);
  }

  /**
   * Unlocks, and asks whether anybody waits: waiters hold the wait number in shared mode, so it
   * cannot be had exclusively then. Costs no scan of the lock table; only if it was refused is
   * there anything to announce.
   */
  private static String unlockAndAsk(String function) {
    return "SELECT " + function + "(?), pg_try_advisory_xact_lock(?, ?)";
  }

  /** The same for many keys in one statement: whether all were held, and which are waited for. */
  private static String unlockAllAndAsk(String function) {
    return """
    SELECT bool_and(unlocked), array_agg(k) FILTER (WHERE awaited) FROM (
      SELECT k, ${f}(k) AS unlocked, NOT pg_try_advisory_xact_lock(h, l) AS awaited
      FROM unnest(?::bigint[], ?::integer[], ?::integer[]) AS u (k, h, l) OFFSET 0
    ) AS t
    """
        .replace("${f}", function);
  }

  private static String giveBack(String function) {
    return "SELECT bool_and(" + function + "(k)) FROM unnest(?::bigint[]) AS k";
  }
}
