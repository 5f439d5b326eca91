package dev.lukko.postgres;

import dev.lukko.Holder;
import dev.lukko.LockBusyException;
import dev.lukko.LockException;
import dev.lukko.LockNotAcquiredException.Attempt;
import dev.lukko.NodeAnswer;
import dev.lukko.time.Ticker;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** Locks in the caller's own transaction: its end, and nothing else, gives them back. */
final class TransactionLocks {
  private static final String LOCK_TIMEOUT = "55P03";

  private final String tryAll;
  private final String lockAll;
  private final String token;
  private final String holders;
  private final Ticker ticker;

  TransactionLocks(String schema, Ticker ticker) {
    // One row for each array element, made before any lock function runs; ordinality keeps the
    // order, by which two transactions never wait for each other in a circle.
    tryAll =
        "SELECT bool_and(ok) FROM (SELECT pg_try_advisory_xact_lock(k) AS ok"
            + " FROM unnest(?::bigint[]) WITH ORDINALITY AS u (k, i) OFFSET 0) AS t";
    lockAll =
        "SELECT count(*) FROM (SELECT pg_advisory_xact_lock(k)"
            + " FROM unnest(?::bigint[]) WITH ORDINALITY AS u (k, i) OFFSET 0) AS t";
    token = "SELECT nextval('" + schema + ".fencing_token')";
    holders = new AdvisorySql(schema).holders;
    this.ticker = ticker;
  }

  OptionalLong tryLock(Connection connection, List<LockKey> keys) {
    OptionalLong locked = tryAll(connection, keys);
    if (locked.isEmpty()) {
      try {
        holder(connection, keys); // Throws if it is another name's lock.
      } catch (SQLException failure) {
        throw failed(keys, failure);
      }
    }
    return locked;
  }

  private OptionalLong tryAll(Connection connection, List<LockKey> keys) {
    checkTransaction(connection);
    try {
      // Several names: what was had of them before one was refused is given back with the
      // savepoint.
      Savepoint before = keys.size() > 1 ? connection.setSavepoint() : null;
      boolean locked = run(connection, tryAll, keys);
      if (before != null) {
        if (!locked) {
          connection.rollback(before);
        }
        connection.releaseSavepoint(before);
      }
      return locked ? OptionalLong.of(token(connection)) : OptionalLong.empty();
    } catch (SQLException failure) {
      throw failed(keys, failure);
    }
  }

  long lock(Connection connection, List<LockKey> keys, Duration maxWait) {
    OptionalLong atOnce = tryAll(connection, keys);
    if (atOnce.isPresent()) {
      return atOnce.getAsLong();
    }
    long start = ticker.nanoTime();
    try {
      Savepoint before = connection.setSavepoint();
      String limit = setLockTimeout(connection, Math.max(1, maxWait.toMillis()) + "ms");
      try {
        run(connection, lockAll, keys);
      } catch (SQLException failure) {
        connection.rollback(before); // Which also gives back the former lock_timeout.
        if (LOCK_TIMEOUT.equals(failure.getSQLState())) {
          Duration waited = Duration.ofNanos(ticker.nanoTime() - start);
          throw busy(keys, waited, failure, holder(connection, keys));
        }
        throw failure;
      }
      setLockTimeout(connection, limit);
      connection.releaseSavepoint(before);
      return token(connection);
    } catch (SQLException failure) {
      throw failed(keys, failure);
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

  private static boolean run(Connection connection, String sql, List<LockKey> keys)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setArray(
          1, connection.createArrayOf("bigint", keys.stream().map(LockKey::lock).toArray()));
      try (ResultSet result = statement.executeQuery()) {
        return result.next() && result.getBoolean(1);
      }
    }
  }

  private static String setLockTimeout(Connection connection, String value) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            "SELECT current_setting('lock_timeout'), set_config('lock_timeout', ?, true)")) {
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
      return result.getLong(1);
    }
  }

  /** Who holds one of the keys, as far as the server tells; asked in the caller's transaction. */
  private @Nullable Holder holder(Connection connection, List<LockKey> keys) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(holders)) {
      for (LockKey key : keys) {
        statement.setLong(1, key.lock());
        statement.setLong(2, key.classId());
        statement.setLong(3, key.objId());
        try (ResultSet result = statement.executeQuery()) {
          if (result.next()) {
            HolderRow row = HolderRow.read(result);
            if (row.collidesWith(key)) {
              throw new LockNameCollisionException(
                  key.qualified(), row.namespace() + "/" + row.name(), key.lock());
            }
            return row.toHolder();
          }
        }
      }
      return null;
    }
  }

  private static LockBusyException busy(
      List<LockKey> keys, Duration waited, SQLException failure, @Nullable Holder holder) {
    String detail = "lock_timeout passed" + (holder == null ? "" : "; held by " + holder);
    return new LockBusyException(
        new Attempt(
            names(keys),
            waited,
            1,
            true,
            List.of(new NodeAnswer("postgresql", NodeAnswer.Kind.HELD, detail, failure))),
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
