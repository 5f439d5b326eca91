package dev.lukko.postgres;

import dev.lukko.time.Scheduler;
import dev.lukko.time.Ticker;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.sql.Timestamp;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGStatement;

/**
 * One server session on a dedicated connection, and all that is held through it.
 *
 * <p>One statement runs at a time, under {@link #mutex}; the table of local holds is guarded by it
 * too, so the exclusion between the threads of this process and the server's answer are one step.
 * Every failure of the connection, and every doubt about it, ends the session: the server then
 * frees what it held, and {@code onEnd} is called, once.
 */
final class AdvisorySession {

  /** Something to do on the connection. */
  @FunctionalInterface
  interface Work<T> {
    T run() throws SQLException;
  }

  private static final AtomicReferenceFieldUpdater<AdvisorySession, SQLException> END =
      AtomicReferenceFieldUpdater.newUpdater(AdvisorySession.class, SQLException.class, "end");

  private final Connection connection;
  private final AdvisorySql sql;
  private final Opened opened;
  private final Duration timeout;
  private final Ticker ticker;
  private final PlatformCalls calls;
  private final BiConsumer<? super AdvisorySession, ? super SQLException> onEnd;
  private final HangGuard guard;
  private final ReentrantLock mutex = new ReentrantLock();
  private final LocalHolds holds = new LocalHolds();
  private final Map<String, PreparedStatement> statements = new HashMap<>();
  private final Map<LockKey, Integer> waiting = new HashMap<>();
  private volatile @Nullable SQLException end;

  /**
   * What was found out when the session was opened.
   *
   * @param pid the server process
   * @param nonce a setting that disappears when the session is reset
   * @param idleLimit after what time of silence the server would end the session; zero for never
   * @param pooled whether something between here and the server could change the session
   */
  record Opened(int pid, String nonce, Duration idleLimit, boolean pooled) {}

  AdvisorySession(
      Connection connection,
      AdvisorySql sql,
      Opened opened,
      Duration timeout,
      Ticker ticker,
      PlatformCalls calls,
      Scheduler scheduler,
      BiConsumer<? super AdvisorySession, ? super SQLException> onEnd) {
    this.connection = connection;
    this.sql = sql;
    this.opened = opened;
    this.timeout = timeout;
    this.ticker = ticker;
    this.calls = calls;
    this.onEnd = onEnd;
    this.guard = new HangGuard(scheduler, timeout, this::hung);
  }

  boolean isEnded() {
    return end != null;
  }

  Opened opened() {
    return opened;
  }

  /** What the server, or this process, said to a request for locks. */
  sealed interface Answer {
    /** Granted. */
    record Granted(long token, Proof proof) implements Answer {}

    /** Held by another session. */
    record Held(LockKey key) implements Answer {}

    /** Held by a lease of this client. */
    record HeldHere(LockKey key, Hold holder) implements Answer {}
  }

  /** Turns a grant into a hold while nobody else can use the session. */
  @FunctionalInterface
  interface Holding {
    Hold hold(long token, Proof proof);
  }

  /** Tries to lock all keys, which are sorted by number; exactly one statement when it succeeds. */
  Answer tryLock(List<LockKey> keys, boolean shared, Holding holding) throws SQLException {
    return call(
        () -> {
          for (LockKey key : keys) {
            Hold other = holds.conflicting(key, shared);
            if (other != null) {
              return new Answer.HeldHere(key, other);
            }
          }
          Proof proof = Proof.now(ticker);
          Answer answer;
          try {
            answer = keys.size() == 1 ? one(keys.get(0), shared, proof) : many(keys, shared, proof);
          } catch (SQLException failure) {
            // It may have locked before it failed, and session locks outlive a failed statement.
            if (!endsConnection(failure)) {
              undo(keys, shared, failure);
            }
            throw failure;
          }
          if (answer instanceof Answer.Granted granted) {
            if (!TokenSequence.gives(granted.token())) {
              giveBack(keys, shared);
              throw TokenSequence.altered(granted.token());
            }
            holds.add(holding.hold(granted.token(), granted.proof()));
          }
          return answer;
        });
  }

  private Answer one(LockKey key, boolean shared, Proof proof) throws SQLException {
    PreparedStatement statement;
    if (opened.pooled()) {
      statement = prepared(shared ? sql.tryOneSharedAtHome : sql.tryOneAtHome);
      statement.setInt(1, opened.pid());
      statement.setLong(2, key.lock());
    } else {
      statement = prepared(shared ? sql.tryOneShared : sql.tryOne);
      statement.setLong(1, key.lock());
    }
    try (ResultSet result = statement.executeQuery()) {
      result.next();
      long token = result.getLong(1);
      return result.wasNull() ? new Answer.Held(key) : granted(token, proof);
    }
  }

  private Answer many(List<LockKey> keys, boolean shared, Proof proof) throws SQLException {
    PreparedStatement statement = prepared(shared ? sql.tryManyShared : sql.tryMany);
    statement.setArray(1, numbers(keys));
    statement.setInt(2, opened.pid());
    int tried;
    try (ResultSet result = statement.executeQuery()) {
      result.next();
      long token = result.getLong(1);
      if (!result.wasNull()) {
        return granted(token, proof);
      }
      tried = result.getInt(2);
    }
    if (tried > 1 && !giveBack(keys.subList(0, tried - 1), shared)) {
      throw ended(new SQLException("the session did not hold what it had just locked", "08000"));
    }
    return new Answer.Held(keys.get(tried - 1));
  }

  private Answer granted(long token, Proof proof) throws SQLException {
    if (token == AdvisorySql.FOREIGN_SESSION) {
      throw ended(foreignSession());
    }
    return new Answer.Granted(token, proof);
  }

  private void undo(List<LockKey> keys, boolean shared, SQLException failure) {
    if (shared) {
      // Shared locks are counted, and the count after a failure is unknown.
      ended(failure);
      return;
    }
    try {
      giveBack(keys, false);
    } catch (SQLException again) {
      failure.addSuppressed(again);
      ended(again);
    }
  }

  private boolean giveBack(List<LockKey> keys, boolean shared) throws SQLException {
    PreparedStatement statement = prepared(shared ? sql.giveBackShared : sql.giveBack);
    statement.setArray(1, numbers(keys));
    try (ResultSet result = statement.executeQuery()) {
      return result.next() && result.getBoolean(1);
    }
  }

  /**
   * Unlocks; the server's word decides.
   *
   * @return false if the server did not hold it: then the session has ended, for it is not what we
   *     thought it was
   */
  boolean unlock(Hold hold) throws SQLException {
    return call(
        () -> {
          if (!holds.remove(hold)) {
            return false;
          }
          if (hold.published()) {
            PreparedStatement withdraw = prepared(sql.withdraw);
            withdraw.setArray(1, numbers(hold.keys()));
            withdraw.setLong(2, hold.token());
            tolerant(withdraw::executeUpdate);
          }
          boolean ask = hold.maybeAwaited();
          List<LockKey> keys = hold.keys();
          List<Long> awaited;
          try {
            awaited =
                keys.size() == 1
                    ? unlockOne(keys.get(0), hold.shared(), ask)
                    : unlockAll(keys, hold.shared(), ask);
          } catch (SQLException failure) {
            // Unlocked or not: only the end of the session makes it certain.
            throw ended(failure);
          }
          if (awaited == null) {
            ended(new SQLException("the session does not hold the locks " + keys, "08000"));
            return false;
          }
          if (!awaited.isEmpty()) {
            PreparedStatement announce = prepared(sql.announce);
            announce.setArray(1, connection.createArrayOf("bigint", awaited.toArray()));
            tolerant(announce::execute);
          }
          return true;
        });
  }

  /** Unlocks a key; gives it back if it is waited for, null if it was not held. */
  private @Nullable List<Long> unlockOne(LockKey key, boolean shared, boolean ask)
      throws SQLException {
    PreparedStatement statement = prepared(sql.unlock(shared, ask));
    statement.setLong(1, key.lock());
    if (ask) {
      statement.setInt(2, key.waitHigh());
      statement.setInt(3, key.waitLow());
    }
    try (ResultSet result = statement.executeQuery()) {
      if (!result.next() || !result.getBoolean(1)) {
        return null;
      }
      return ask && !result.getBoolean(2) ? List.of(key.lock()) : List.of();
    }
  }

  /**
   * Unlocks keys in one statement, however many they are; gives those that are waited for, or null
   * if one of them was not held.
   */
  private @Nullable List<Long> unlockAll(List<LockKey> keys, boolean shared, boolean ask)
      throws SQLException {
    PreparedStatement statement = prepared(sql.unlockAll(shared, ask));
    statement.setArray(1, numbers(keys));
    if (ask) {
      statement.setArray(2, halves(keys, LockKey::waitHigh));
      statement.setArray(3, halves(keys, LockKey::waitLow));
    }
    try (ResultSet result = statement.executeQuery()) {
      if (!result.next() || !result.getBoolean(1)) {
        return null;
      }
      Array awaited = ask ? result.getArray(2) : null;
      return awaited == null ? List.of() : List.of((Long[]) awaited.getArray());
    }
  }

  /** Asks the session whether it is still itself; the proof is of the moment before. */
  Proof probe() throws SQLException {
    return call(
        () -> {
          Proof proof = Proof.now(ticker);
          PreparedStatement statement = prepared(sql.probe);
          statement.setString(1, opened.nonce());
          try (ResultSet result = statement.executeQuery()) {
            if (!result.next() || result.getInt(1) != opened.pid()) {
              throw ended(foreignSession());
            }
          }
          return proof;
        });
  }

  /** Writes down who holds what, human-readable; a failure is no failure of the lock. */
  void publish(List<Hold> unpublished) throws SQLException {
    call(
        () -> {
          PreparedStatement statement = prepared(sql.publish);
          for (Hold hold : unpublished) {
            if (!holds.contains(hold)) {
              continue;
            }
            for (LockKey key : hold.keys()) {
              statement.setLong(1, hold.token());
              statement.setLong(2, key.lock());
              statement.setString(3, key.namespace());
              statement.setString(4, key.name());
              statement.setBoolean(5, hold.shared());
              statement.setString(6, hold.identity().description());
              statement.setTimestamp(7, Timestamp.from(hold.identity().since()));
              statement.addBatch();
            }
            hold.markPublished();
          }
          tolerant(statement::executeBatch);
          return true;
        });
  }

  /** Shows that somebody here waits for a key; counted. */
  void startWaiting(LockKey key) throws SQLException {
    call(
        () -> {
          // Refused for an instant while another session looks whether anybody waits: the poll
          // covers that, and the next waiter tries again.
          if (waiting.containsKey(key) || mark(sql.startWaiting, key)) {
            waiting.merge(key, 1, Integer::sum);
          }
          return true;
        });
  }

  /** Takes that back. */
  void stopWaiting(LockKey key) throws SQLException {
    call(
        () -> {
          Integer count = waiting.get(key);
          if (count == null) {
            return false;
          }
          if (count > 1) {
            waiting.put(key, count - 1);
            return true;
          }
          waiting.remove(key);
          return mark(sql.stopWaiting, key);
        });
  }

  private boolean mark(String text, LockKey key) throws SQLException {
    PreparedStatement statement = prepared(text);
    statement.setInt(1, key.waitHigh());
    statement.setInt(2, key.waitLow());
    try (ResultSet result = statement.executeQuery()) {
      return result.next() && result.getBoolean(1);
    }
  }

  /** Who holds a key in another session, as far as the server knows. */
  Optional<HolderRow> holderOf(LockKey key) throws SQLException {
    return holders(sql.holders, key).stream().findFirst();
  }

  /** Who holds a key in any session, this one included. */
  List<HolderRow> holdersOf(LockKey key) throws SQLException {
    return holders(sql.allHolders, key);
  }

  private List<HolderRow> holders(String text, LockKey key) throws SQLException {
    return call(
        () -> {
          PreparedStatement statement = prepared(text);
          statement.setArray(1, numbers(List.of(key)));
          List<HolderRow> rows = new ArrayList<>();
          try (ResultSet row = statement.executeQuery()) {
            while (row.next()) {
              rows.add(HolderRow.read(row));
            }
          }
          return rows;
        });
  }

  /** Ends the session in an orderly way, or by force if it is busy longer than the timeout. */
  void close() {
    SQLException closed = new SQLException("the session was closed", "08003");
    boolean mine = false;
    try {
      mine = BoundedWait.lock(mutex, timeout.toNanos());
      if (mine) {
        END.compareAndSet(this, null, closed);
        PgConnector.closeQuietly(connection);
      } else {
        ended(closed);
      }
    } finally {
      if (mine) {
        mutex.unlock();
      }
    }
  }

  private PreparedStatement prepared(String text) throws SQLException {
    guard.begin(); // A session is hung when one statement is not answered, not when many are slow.
    PreparedStatement statement = statements.get(text);
    if (statement == null) {
      statement = connection.prepareStatement(text);
      statement.unwrap(PGStatement.class).setPrepareThreshold(1);
      statements.put(text, statement);
    }
    return statement;
  }

  private Array numbers(List<LockKey> keys) throws SQLException {
    return connection.createArrayOf("bigint", keys.stream().map(LockKey::lock).toArray());
  }

  private Array halves(List<LockKey> keys, ToIntFunction<LockKey> half) throws SQLException {
    return connection.createArrayOf("integer", keys.stream().mapToInt(half).boxed().toArray());
  }

  private <T extends @Nullable Object> T call(Work<T> work) throws SQLException {
    return calls.run(() -> exclusively(work));
  }

  private <T extends @Nullable Object> T exclusively(Work<T> work) throws SQLException {
    if (!BoundedWait.lock(mutex, timeout.toNanos())) {
      throw new SQLTimeoutException(
          "the session was busy for " + timeout.toMillis() + " ms", "57014");
    }
    guard.begin();
    try {
      SQLException over = end;
      if (over != null) {
        throw new SQLException("the session has ended: " + over.getMessage(), "08003", over);
      }
      return work.run();
    } catch (SQLException failure) {
      if (endsConnection(failure)) {
        ended(failure);
      }
      throw failure;
    } finally {
      guard.end();
      mutex.unlock();
    }
  }

  /** Ends a session whose server has not answered in time; the read that waits for it fails. */
  private void hung() {
    SQLException late =
        new SQLTimeoutException("no answer for " + timeout.toMillis() + " ms", "08006");
    ended(late);
  }

  private void tolerant(Work<?> work) throws SQLException {
    try {
      work.run();
    } catch (SQLException failure) {
      if (endsConnection(failure)) {
        throw failure;
      }
      System.getLogger(AdvisorySession.class.getName())
          .log(System.Logger.Level.DEBUG, "the table of holders was not written", failure);
    }
  }

  private boolean endsConnection(SQLException failure) {
    String state = failure.getSQLState();
    if (end != null || state == null || state.startsWith("08") || state.startsWith("57P")) {
      return true;
    }
    try {
      return connection.isClosed();
    } catch (SQLException broken) {
      return true;
    }
  }

  /** Drops the connection at once; the server frees every lock of the session when it notices. */
  private SQLException ended(SQLException cause) {
    if (END.compareAndSet(this, null, cause)) {
      try {
        connection.abort(Runnable::run);
      } catch (SQLException broken) {
        cause.addSuppressed(broken);
      }
      onEnd.accept(this, cause);
    }
    return cause;
  }

  private static SQLException foreignSession() {
    return new SQLException(
        "the statement ran in another server session than the one that was opened: a pooler hands"
            + " the sessions around (PgBouncer in transaction mode?), or reset this one",
        "08000");
  }
}
