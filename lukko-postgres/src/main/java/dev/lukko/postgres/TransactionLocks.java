package dev.lukko.postgres;

import dev.lukko.Holder;
import dev.lukko.LockBusyException;
import dev.lukko.LockException;
import dev.lukko.LockNotAcquiredException.Attempt;
import dev.lukko.NodeAnswer;
import dev.lukko.time.Scheduler;
import dev.lukko.time.Ticker;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** Locks in the caller's own transaction: its end, and nothing else, gives them back. */
final class TransactionLocks {
  private static final String LOCK_TIMEOUT = "55P03";

  /** In milliseconds; the server's setting has no room for more. */
  private static final long LONGEST_LOCK_TIMEOUT = Integer.MAX_VALUE;

  private final String tryAll;
  private final String lockAll;
  private final String token;
  private final String holders;
  private final Ticker ticker;

  TransactionLocks(String schema, Ticker ticker) {
    // One row for each array element, made before any lock function runs; ordinality keeps the
    // order, by which two transactions never wait for each other in a circle. At a wrong isolation
    // level there are no rows.
    String keys = " FROM unnest(?::bigint[]) WITH ORDINALITY AS u (k, i)";
    tryAll =
        "SELECT bool_and(ok), current_setting('transaction_isolation')"
            + " FROM (SELECT pg_try_advisory_xact_lock(k) AS ok"
            + keys
            + " WHERE current_setting('transaction_isolation') LIKE 'read %' OFFSET 0) AS t";
    // The limit is of each wait; what the earlier ones have used up of it is taken off.
    lockAll =
        "SELECT count(*) FROM (SELECT set_config('lock_timeout', greatest(1, ?::bigint - floor("
            + "extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000)::bigint)::text"
            + ", true), pg_advisory_xact_lock(k)"
            + keys
            + " OFFSET 0) AS t";
    token = "SELECT nextval('" + schema + ".fencing_token')";
    holders = new AdvisorySql(schema).holders;
    this.ticker = ticker;
  }

  OptionalLong tryLock(Connection connection, List<LockKey> keys) {
    return call(
        connection,
        keys,
        () -> {
          OptionalLong locked = tryAll(connection, keys);
          if (locked.isEmpty()) {
            holder(connection, keys); // Throws if it is another name's lock.
          }
          return locked;
        });
  }

  long lock(Connection connection, List<LockKey> keys, Duration maxWait) {
    return call(
        connection,
        keys,
        () -> {
          OptionalLong atOnce = tryAll(connection, keys);
          return atOnce.isPresent() ? atOnce.getAsLong() : await(connection, keys, maxWait);
        });
  }

  private interface Work<T> {
    T run() throws SQLException;
  }

  private static <T> T call(Connection connection, List<LockKey> keys, Work<T> work) {
    checkTransaction(connection);
    try {
      return DriverAutosave.without(connection, same -> work.run());
    } catch (SQLException failure) {
      throw failed(keys, failure);
    }
  }

  private OptionalLong tryAll(Connection connection, List<LockKey> keys) throws SQLException {
    // Several names: what was had of them before one was refused is given back with the savepoint.
    Savepoint before = keys.size() > 1 ? connection.setSavepoint() : null;
    boolean locked;
    try {
      locked = run(connection, keys);
    } catch (IllegalArgumentException refused) {
      if (before != null) {
        connection.releaseSavepoint(before);
      }
      throw refused;
    }
    if (before != null) {
      if (!locked) {
        connection.rollback(before);
      }
      connection.releaseSavepoint(before);
    }
    return locked ? OptionalLong.of(token(connection)) : OptionalLong.empty();
  }

  private static boolean isAllowed(String isolation) {
    return isolation.startsWith("read ");
  }

  private boolean run(Connection connection, List<LockKey> keys) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(tryAll)) {
      statement.setArray(1, numbers(connection, keys));
      try (ResultSet result = statement.executeQuery()) {
        result.next();
        String isolation = result.getString(2);
        if (!isAllowed(isolation)) {
          throw new IllegalArgumentException(
              "the connection's transaction is at "
                  + isolation.toUpperCase(Locale.ROOT)
                  + "; it must be at READ COMMITTED. Above that, all statements see the database as"
                  + " it was when the first one began, which may be before the lock was granted:"
                  + " what the last holder has written would be missing");
        }
        return result.getBoolean(1);
      }
    }
  }

  private long await(Connection connection, List<LockKey> keys, Duration maxWait)
      throws SQLException {
    long start = ticker.nanoTime();
    long leftMillis = Math.max(1, Scheduler.toNanosSaturated(maxWait) / 1_000_000);
    Savepoint before = connection.setSavepoint();
    String limit = setLockTimeout(connection, null);
    while (!waitForAll(connection, keys, before, Math.min(leftMillis, LONGEST_LOCK_TIMEOUT))) {
      leftMillis -= LONGEST_LOCK_TIMEOUT;
      if (leftMillis <= 0) {
        Duration waited = Duration.ofNanos(ticker.nanoTime() - start);
        throw busy(keys, waited, holder(connection, keys));
      }
    }
    setLockTimeout(connection, limit);
    connection.releaseSavepoint(before);
    return token(connection);
  }

  /** False if the time has passed; the transaction is as it was then, its lock_timeout as well. */
  private boolean waitForAll(
      Connection connection, List<LockKey> keys, Savepoint before, long millis)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(lockAll)) {
      statement.setLong(1, millis);
      statement.setArray(2, numbers(connection, keys));
      statement.executeQuery().close();
      return true;
    } catch (SQLException failure) {
      connection.rollback(before);
      if (LOCK_TIMEOUT.equals(failure.getSQLState())) {
        return false;
      }
      throw failure;
    }
  }

  static List<LockKey> sorted(List<LockKey> keys) {
    return keys.stream().distinct().sorted(Comparator.comparingLong(LockKey::lock)).toList();
  }

  private static void checkTransaction(Connection connection) {
    try {
      if (connection.getAutoCommit()) {
        throw new IllegalArgumentException(
            "connection is in autocommit mode; a transaction-scoped lock would be gone when the"
                + " call returns. Call setAutoCommit(false), or begin a transaction, first");
      }
    } catch (SQLException failure) {
      throw new LockException("the connection is not usable", failure);
    }
  }

  private static Array numbers(Connection connection, List<LockKey> keys) throws SQLException {
    return connection.createArrayOf("bigint", keys.stream().map(LockKey::lock).toArray());
  }

  /** Sets the limit of this transaction, unless the value is null; gives the former one. */
  private static String setLockTimeout(Connection connection, @Nullable String value)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            "SELECT current_setting('lock_timeout'),"
                + " set_config('lock_timeout', coalesce(?, current_setting('lock_timeout')), true)")) {
      statement.setString(1, value);
      try (ResultSet result = statement.executeQuery()) {
        result.next();
        return result.getString(1);
      }
    }
  }

  private long token(Connection connection) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(token);
        ResultSet result = statement.executeQuery()) {
      result.next();
      return TokenSequence.checked(result.getLong(1));
    }
  }

  /** Who holds one of the keys, as far as the server tells; asked in the caller's transaction. */
  private @Nullable Holder holder(Connection connection, List<LockKey> keys) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(holders)) {
      statement.setArray(1, numbers(connection, keys));
      try (ResultSet result = statement.executeQuery()) {
        if (!result.next()) {
          return null;
        }
        HolderRow row = HolderRow.read(result);
        long number = result.getLong(8);
        for (LockKey key : keys) {
          if (key.lock() == number && row.collidesWith(key)) {
            throw new LockNameCollisionException(
                key.qualified(), row.namespace() + "/" + row.name(), key.lock());
          }
        }
        return row.toHolder();
      }
    }
  }

  private static LockBusyException busy(
      List<LockKey> keys, Duration waited, @Nullable Holder holder) {
    String detail = "lock_timeout passed" + (holder == null ? "" : "; held by " + holder);
    return new LockBusyException(
        new Attempt(
            names(keys),
            waited,
            1,
            true,
            List.of(new NodeAnswer("postgresql", NodeAnswer.Kind.HELD, detail, null))),
        holder);
  }

  private static LockException failed(List<LockKey> keys, SQLException failure) {
    return LockTableFull.isCauseOf(failure)
        ? LockTableFull.exception(names(keys), failure)
        : new LockException("lock " + names(keys) + " in the transaction failed", failure);
  }

  private static List<String> names(List<LockKey> keys) {
    return keys.stream().map(LockKey::name).sorted().toList();
  }
}
