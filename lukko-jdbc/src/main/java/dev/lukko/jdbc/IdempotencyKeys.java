package dev.lukko.jdbc;

import dev.lukko.fencing.FenceArguments;
import dev.lukko.fencing.KeyInProgressException;
import dev.lukko.fencing.KeyReusedException;
import dev.lukko.fencing.RequestFingerprint;
import dev.lukko.time.Scheduler;
import dev.lukko.time.Ticker;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransactionRollbackException;
import java.sql.Savepoint;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Requests that are run once, however often they are sent: the work and its result are stored under
 * the request's key in one transaction.
 *
 * <pre>{@code
 * String receipt = keys.runOnce(key, RequestFingerprint.of(body), connection -> pay(connection, body));
 * }</pre>
 *
 * <ul>
 *   <li>The first call does the work and stores the result.
 *   <li>A repeat returns the stored result.
 *   <li>A repeat while the first call is running waits for it, at most {@link Builder#maxWait};
 *       then {@link KeyInProgressException}.
 *   <li>A call that failed, or whose process or connection died before the commit, has left
 *       nothing: the next one does the work.
 *   <li>The same key for another request is refused by {@link KeyReusedException}.
 * </ul>
 *
 * <p>This holds for work in the same database. What the work does elsewhere, such as a message that
 * it sends, does not roll back with it.
 *
 * <p><b>When the commit's own answer is lost</b> (a {@link SQLException} of the connection), the
 * work may have been committed. Calling again with the same key finds out: that is what the key is
 * for.
 *
 * <p>Results are kept for {@link Builder#retention} by the database's clock; a later repeat runs
 * the work anew. {@link #purge} deletes them.
 *
 * <p>Every isolation level is right, on PostgreSQL, MySQL and MariaDB, H2, and SQLite, whose single
 * writer makes any other running transaction look like a call in progress. Immutable and
 * thread-safe.
 */
public final class IdempotencyKeys {
  /** The table's name, unless another is given. */
  public static final String DEFAULT_TABLE = "lukko_idempotency";

  private static final Logger LOG = System.getLogger(IdempotencyKeys.class.getName());
  private static final int PURGE_BATCH = 500;
  private static final long MAX_BACKOFF_MILLIS = 50;
  private static final long H2_PAUSE_MILLIS = 10;

  private final DataSource database;
  private final String table;
  private final Duration maxWait;
  private final long retentionMillis;
  private final Ticker ticker = Ticker.system();

  private IdempotencyKeys(Builder builder) {
    this.database = builder.database;
    this.table = builder.table;
    this.maxWait = builder.maxWait;
    this.retentionMillis = builder.retention.toMillis();
  }

  /** Keys in the default table, everything else by default too. */
  public static IdempotencyKeys over(DataSource database) {
    return builder(database).build();
  }

  /** A builder with the defaults. */
  public static Builder builder(DataSource database) {
    return new Builder(database);
  }

  /** The statements that create the table if it is missing. */
  public List<String> ddl(Dialect dialect) {
    return ddl(dialect, table);
  }

  /**
   * The statements that create such a table if it is missing, without a database.
   *
   * @param table {@code name} or {@code schema.name} of letters, digits and _
   */
  public static List<String> ddl(Dialect dialect, String table) {
    return IdempotencySql.createTable(dialect, SqlNames.table("table", table));
  }

  /**
   * Creates the table if it is missing.
   *
   * @throws IllegalStateException if the data source hands out a connection with a transaction in
   *     it, which this would commit
   */
  public void createTable() throws SQLException {
    OwnTransactions.run(
        database,
        "the creation of the table",
        "",
        (connection, dialect) -> {
          for (String sql : ddl(dialect)) {
            DialectTraits.execute(connection, sql);
          }
          return true;
        });
  }

  /**
   * Runs the work in a transaction of its own on a connection from the data source, unless the key
   * has a result.
   *
   * @param key names the request: 1 to 255 characters, no control characters
   * @return the result of the work, now or then
   * @throws KeyInProgressException if another call runs it and did not end within the wait
   * @throws KeyReusedException if the key has been used for a request with another fingerprint
   * @throws IllegalStateException if the data source hands out a connection with a transaction in
   *     it, which this would commit; nothing was written
   * @throws SQLException what the driver or the work threw; rolled back
   * @throws X what the work threw; rolled back
   */
  public <X extends Throwable> @Nullable String runOnce(
      String key, RequestFingerprint request, IdempotentWork<X> work) throws SQLException, X {
    FenceArguments.name("key", key);
    return OwnTransactions.<String, X>run(
        database,
        "runOnce(key, ...)",
        ", or, to have work and result in that transaction, call runOnce(connection, key, ...)",
        (connection, dialect) -> {
          Call<X> call = new Call<>(connection, dialect, key, request, work);
          IdempotencySql.Stored known = call.look();
          if (known != null && !known.expired()) {
            return call.resultOf(known);
          }
          connection.setAutoCommit(false);
          return inOwnTransaction(call);
        });
  }

  /**
   * The same within the caller's transaction: work and result stand when the caller commits. On
   * failure the transaction is taken back to where it was at the call, and can go on, unless the
   * database itself has ended it (a deadlock on MySQL, a serialization failure).
   *
   * @param connection not in autocommit mode
   * @throws IllegalArgumentException if the connection is in autocommit mode
   */
  public <X extends Throwable> @Nullable String runOnce(
      Connection connection, String key, RequestFingerprint request, IdempotentWork<X> work)
      throws SQLException, X {
    FenceArguments.name("key", key);
    if (connection.getAutoCommit()) {
      throw new IllegalArgumentException(
          "connection is in autocommit mode; the work and its result must be in one transaction:"
              + " call setAutoCommit(false) first, or let runOnce open a connection");
    }
    Savepoint start = connection.setSavepoint();
    try {
      return new Call<>(connection, Dialect.of(connection), key, request, work).run();
    } catch (Throwable failed) {
      undo(failed, () -> connection.rollback(start));
      throw failed;
    } finally {
      release(connection, start);
    }
  }

  /** Deletes the results whose retention is over, in transactions of at most 500 rows. */
  public int purge() throws SQLException {
    return new BatchedPurge(table, "idempotency_key", "expires_at", PURGE_BATCH).run(database, 0);
  }

  private <X extends Throwable> @Nullable String inOwnTransaction(Call<X> call)
      throws SQLException, X {
    long start = ticker.nanoTime();
    long waitNanos = Scheduler.toNanosSaturated(maxWait);
    for (long round = 1; ; round++) {
      try {
        String result = call.run();
        call.connection.commit();
        return result;
      } catch (Throwable failed) {
        undo(failed, call.connection::rollback);
        boolean again =
            !call.workBegan
                && failed instanceof SQLException sql
                && SqlStates.isRetryable(sql)
                && !Thread.currentThread().isInterrupted()
                && ticker.nanoTime() - start < waitNanos;
        if (!again) {
          throw failed;
        }
      }
      // Lost against another transaction before the work began: not at once again.
      long boundMillis = Math.min(MAX_BACKOFF_MILLIS, 1L << Math.min(round, 10));
      LockSupport.parkNanos(
          TimeUnit.MILLISECONDS.toNanos(ThreadLocalRandom.current().nextLong(1, boundMillis + 1)));
    }
  }

  @FunctionalInterface
  private interface Undo {
    void run() throws SQLException;
  }

  private static void undo(Throwable failed, Undo undo) {
    try {
      undo.run();
    } catch (SQLException worse) {
      // The connection is gone, and its transaction with it.
      failed.addSuppressed(worse);
    }
  }

  /** It need not succeed: a savepoint ends with its transaction. */
  private static void release(Connection connection, Savepoint savepoint) {
    try {
      connection.releaseSavepoint(savepoint);
    } catch (SQLException gone) {
      LOG.log(Level.DEBUG, "savepoint not released", gone);
    }
  }

  /** One call within an open transaction. */
  private final class Call<X extends Throwable> {
    final Connection connection;
    final IdempotencySql sql;
    private final Dialect dialect;
    private final String key;
    private final RequestFingerprint request;
    private final IdempotentWork<X> work;
    boolean workBegan;

    Call(
        Connection connection,
        Dialect dialect,
        String key,
        RequestFingerprint request,
        IdempotentWork<X> work) {
      this.connection = connection;
      this.dialect = dialect;
      this.sql = new IdempotencySql(dialect, table);
      this.key = key;
      this.request = request;
      this.work = work;
    }

    /** What is known without waiting for anybody, or null. */
    IdempotencySql.@Nullable Stored look() throws SQLException {
      if (connection.getTransactionIsolation() == Connection.TRANSACTION_READ_UNCOMMITTED) {
        return null; // What can be seen may be rolled back. The claim waits.
      }
      try {
        return sql.find(connection, key, false);
      } catch (SQLException failed) {
        // SQLite is busy for readers, too, while it opens or closes its log. The claim waits.
        if (SqlStates.isLockTimeout(failed)) {
          return null;
        }
        throw failed;
      }
    }

    @Nullable String run() throws SQLException, X {
      while (!claim()) {
        IdempotencySql.Stored stored = sql.find(connection, key, true);
        if (stored != null && (!stored.expired() || !stored.done())) {
          return resultOf(stored);
        }
        if (stored == null && dialect == Dialect.H2) {
          throw new SQLTransactionRollbackException(
              "idempotency key \""
                  + key
                  + "\" is newer than what this transaction can see; roll back and run it again",
              "40001");
        }
        sql.deleteExpired(connection, key);
      }
      workBegan = true;
      String result = work.run(connection);
      sql.store(connection, key, result, retentionMillis);
      return result;
    }

    @Nullable String resultOf(IdempotencySql.Stored stored) {
      if (!stored.fingerprint().equals(request)) {
        throw new KeyReusedException(key, stored.fingerprint(), request);
      }
      if (!stored.done()) {
        // Only our own transaction can see this: the work calls for its own key.
        throw new KeyInProgressException(key, Duration.ZERO, null);
      }
      return stored.result();
    }

    private boolean claim() throws SQLException {
      long waitMillis = Math.max(1, maxWait.toMillis());
      if (dialect != Dialect.H2) {
        return claim(waitMillis);
      }
      // H2 waits for an insert of the same key by trying again without a pause: a core lost for
      // the whole wait. So it gets no time of its own to wait, and the pauses are made here.
      long start = ticker.nanoTime();
      while (true) {
        try {
          return claim(1);
        } catch (KeyInProgressException busy) {
          long passedMillis = TimeUnit.NANOSECONDS.toMillis(ticker.nanoTime() - start);
          if (passedMillis >= waitMillis || Thread.currentThread().isInterrupted()) {
            throw busy;
          }
          LockSupport.parkNanos(
              TimeUnit.MILLISECONDS.toNanos(Math.min(H2_PAUSE_MILLIS, waitMillis - passedMillis)));
        }
      }
    }

    private boolean claim(long waitMillis) throws SQLException {
      LockWait wait = LockWait.set(dialect, connection, waitMillis);
      try {
        boolean claimed = sql.claim(connection, key, request, retentionMillis);
        wait.restore();
        return claimed;
      } catch (SQLException failed) {
        if (dialect != Dialect.POSTGRES) {
          undo(failed, wait::restore);
        }
        if (SqlStates.isLockTimeout(failed)) {
          throw new KeyInProgressException(key, maxWait, failed);
        }
        throw failed;
      }
    }
  }

  /** Collects the settings; each setter checks at once. Not thread-safe. */
  public static final class Builder {
    private static final Duration LONGEST_WAIT = Duration.ofHours(1);

    private final DataSource database;
    private String table = DEFAULT_TABLE;
    private Duration maxWait = Duration.ofSeconds(10);
    private Duration retention = Duration.ofDays(7);

    private Builder(DataSource database) {
      this.database = database;
    }

    /** Another table: {@code name} or {@code schema.name} of letters, digits and _. */
    public Builder table(String name) {
      this.table = SqlNames.table("table", name);
      return this;
    }

    /**
     * How long a repeat waits for the call that is running the work: 0 to 1 hour, default 10 s.
     * Whole milliseconds, at least one; MySQL and MariaDB wait for whole seconds, at least one.
     */
    public Builder maxWait(Duration maxWait) {
      if (maxWait.isNegative() || maxWait.compareTo(LONGEST_WAIT) > 0) {
        throw new IllegalArgumentException("maxWait is " + maxWait + "; it must be 0 to 1 hour");
      }
      this.maxWait = maxWait;
      return this;
    }

    /** How long a result is kept: 1 s to 3650 days, default 7 days. */
    public Builder retention(Duration retention) {
      if (retention.compareTo(Duration.ofSeconds(1)) < 0
          || retention.compareTo(Duration.ofDays(3650)) > 0) {
        throw new IllegalArgumentException(
            "retention is " + retention + "; it must be 1 s to 3650 days");
      }
      this.retention = retention;
      return this;
    }

    /** The keys. */
    public IdempotencyKeys build() {
      return new IdempotencyKeys(this);
    }
  }
}
