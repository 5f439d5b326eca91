package dev.lukko.jdbc;

import dev.lukko.time.Ticker;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The node's own connections. The one used last is used next, so that there are no more than are
 * needed; whoever uses one has a permit, and the permits are their bound.
 */
final class Sessions {
  private static final System.Logger LOG = System.getLogger(Sessions.class.getName());
  private static final long TRUSTED_NANOS = 2_000_000_000L;

  private final DataSource source;
  private final JdbcSettings settings;
  private final Ticker ticker;
  private final Executor executor;
  private final ConcurrentLinkedDeque<Session> idle = new ConcurrentLinkedDeque<>();
  private final Set<Session> live = ConcurrentHashMap.newKeySet();
  // Fair, so that callers who come again and again do not keep the workers from theirs.
  private final Semaphore permits;
  private volatile @Nullable Dialect dialect;
  private volatile @Nullable Statements statements;
  private volatile @Nullable String url;
  private @Nullable Place place;
  private volatile boolean closed;
  private volatile @Nullable Session closing;

  Sessions(DataSource source, JdbcSettings settings, Ticker ticker, Executor executor) {
    this.source = source;
    this.settings = settings;
    this.ticker = ticker;
    this.executor = executor;
    this.permits = new Semaphore(settings.connections(), true);
    if (settings.dialect() != null) {
      become(settings.dialect());
    }
  }

  /** The dialect, if it was given or a connection has told. */
  @Nullable Dialect dialect() {
    return dialect;
  }

  /** The address by which the first connection called itself, or null. */
  @Nullable String url() {
    return url;
  }

  /**
   * A connection that is ready; blocks as long as the source does, and before that until one may be
   * had, but no longer than the wait. It is given back or discarded, once.
   */
  Session take(long maxWaitNanos) throws SQLException, InterruptedException {
    if (!permits.tryAcquire(maxWaitNanos, TimeUnit.NANOSECONDS)) {
      throw new SQLException("all connections of the node are busy");
    }
    Session taken = null;
    try {
      taken = kept();
      return taken;
    } finally {
      if (taken == null) {
        permits.release();
      }
    }
  }

  /**
   * A connection that was used a moment ago, without any wait, for a thread that can wait no longer
   * than the timeout; null if there is none.
   */
  @Nullable Session takeIdle(long timeoutMillis) {
    if (!triedPermit()) {
      return null;
    }
    Session taken = null;
    try {
      Session kept = idle.pollFirst();
      if (kept != null) {
        if (!kept.isBroken() && isTrusted(kept) && kept.limitNetworkTo(ticker, timeoutMillis)) {
          taken = kept;
        } else {
          shelve(kept); // Whether it is alive takes a question.
        }
      }
      return taken;
    } finally {
      if (taken == null) {
        permits.release();
      }
    }
  }

  /** A permit, unless somebody waits for one; without the time out, the order would not count. */
  private boolean triedPermit() {
    try {
      return permits.tryAcquire(0, TimeUnit.NANOSECONDS);
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private boolean isTrusted(Session session) {
    return ticker.nanoTime() - session.idleSince() < TRUSTED_NANOS;
  }

  private Session kept() throws SQLException {
    for (Session kept = idle.pollFirst(); kept != null; kept = idle.pollFirst()) {
      if (!kept.isBroken()) {
        kept.limitNetworkTo(settings.requestTimeoutMillis()); // A caller's was shorter.
        if (isTrusted(kept) || kept.isAlive(settings.wholeSeconds())) {
          return kept;
        }
      }
      kept.markBroken();
      end(kept);
    }
    Session fresh = ready(source.getConnection());
    try {
      checkPlace(fresh, true);
    } catch (SQLException | RuntimeException | Error failure) {
      fresh.close();
      throw failure;
    }
    return fresh;
  }

  /** A connection for listening, in autocommit mode; the caller closes it. */
  Session dedicated() throws SQLException {
    Session fresh = ready(source.getConnection());
    try {
      checkPlace(fresh, false);
    } catch (SQLException | RuntimeException | Error failure) {
      fresh.close();
      throw failure;
    }
    return fresh;
  }

  private Session ready(@Nullable Connection connection) throws SQLException {
    if (connection == null) {
      throw new SQLException("the data source returned null instead of a connection");
    }
    Statements known = statements;
    if (known == null || url == null) {
      try {
        known = known != null ? known : become(Dialect.of(connection));
        url = connection.getMetaData().getURL();
      } catch (SQLException | RuntimeException | Error failure) {
        connection.close();
        throw failure;
      }
    }
    return Session.open(
        connection, known, executor, settings.requestTimeoutMillis(), settings.idleMillis());
  }

  private Statements become(Dialect found) {
    dialect = found;
    Statements made = new Statements(found.traits());
    statements = made;
    return made;
  }

  /**
   * Refuses a connection that leads to other tables than the first one did.
   *
   * @param lasting whether it becomes one of the node's sessions
   */
  private void checkPlace(Session session, boolean lasting) throws SQLException {
    Dialect known = dialect;
    if (known == null) {
      throw new IllegalStateException("a connection is open, so its dialect is known");
    }
    Place before = place();
    if (before == null && settings.createSchema()) {
      JdbcSchema.create(session.connection(), known);
    }
    Place found;
    try {
      found = JdbcSchema.check(session.connection(), known);
    } catch (SchemaException noTables) {
      if (before == null) {
        throw noTables;
      }
      throw elsewhere("to a place where " + noTables.getMessage(), before, noTables);
    }
    accept(session, found, lasting);
  }

  private synchronized @Nullable Place place() {
    return place;
  }

  /** Decides about one connection at a time, so that two first ones cannot lead to two places. */
  private synchronized void accept(Session session, Place found, boolean lasting)
      throws SQLException {
    Place before = place;
    if (before == null) {
      place = found;
    } else if (!found.isWhere(before) || (isOther(before, found) && !isMove(before, found))) {
      throw elsewhere("to " + found, before, null);
    }
    session.leadsTo(found);
    if (lasting) {
      live.add(session);
    }
  }

  private static boolean isOther(Place before, Place found) {
    return !found.hasTablesOf(before) || !found.hasServerOf(before);
  }

  /**
   * Whether the tables are on another server now, or were made anew, and are not there twice: no
   * other connection is open. Else those that idle are asked before their next use, so that dead
   * ones go away. What may be lost by it is the business of the fleet, whose record is not there or
   * was made for another run.
   */
  private boolean isMove(Place before, Place found) {
    if (!live.isEmpty()) {
      distrustIdle();
      return false;
    }
    place = found;
    LOG.log(
        System.Logger.Level.WARNING,
        "the lock''s tables are on another server now, or were made anew: {0}, before {1}; what was"
            + " written there and did not come along is forgotten",
        found,
        before);
    return true;
  }

  private static SQLException elsewhere(String here, Place first, @Nullable SQLException cause) {
    return new SQLException(
        "this connection leads "
            + here
            + ", the first one of the node led to "
            + first
            + "; give the node a data source whose connections all lead to the same tables, not one"
            + " that chooses by tenant or thread",
        "08004",
        cause);
  }

  private void end(Session session) {
    try {
      session.close();
    } finally {
      live.remove(session);
    }
  }

  /** Keeps a connection for the next request. */
  void giveBack(Session session) {
    try {
      if (session.isBroken() || closed) {
        end(session);
        return;
      }
      session.leaveDoubt();
      session.idleSince(ticker.nanoTime());
      shelve(session);
    } finally {
      permits.release(); // Behind its session, or another one would be opened beside it.
    }
  }

  private void shelve(Session session) {
    idle.addFirst(session);
    if (closed && idle.remove(session)) {
      end(session);
    }
  }

  /** Drops a connection that cannot be trusted any more, and those that have idled beside it. */
  void discard(Session session) {
    try {
      session.markBroken();
      end(session);
      // The others were most likely to the same server, or went through the same firewall.
      distrustIdle();
    } finally {
      permits.release();
    }
  }

  /**
   * Leaves a server that says that it is not the one for this: the connection is dropped, and so
   * are those that idle beside it, though they are alive. The next request connects anew.
   */
  void leave(Session session) {
    try {
      session.markBroken();
      end(session);
      for (Session other : idle) {
        other.markBroken();
      }
    } finally {
      permits.release();
    }
  }

  /** Has each idle connection asked before its next use. */
  private void distrustIdle() {
    long longAgo = ticker.nanoTime() - TRUSTED_NANOS;
    for (Session other : idle) {
      other.idleSince(Math.min(other.idleSince(), longAgo));
    }
  }

  /** Whether everybody has given his connection back within this time. */
  boolean awaitReturn(long maxWaitNanos) throws InterruptedException {
    int all = settings.connections();
    if (!permits.tryAcquire(all, maxWaitNanos, TimeUnit.NANOSECONDS)) {
      return false;
    }
    permits.release(all);
    return true;
  }

  /**
   * Closes the connections that nobody has used for the idle time. It has a permit for each, so
   * that none is opened while one that is being closed still counts at the server.
   */
  void closeIdle() {
    long now = ticker.nanoTime();
    for (Session kept = idle.peekLast(); kept != null; kept = idle.peekLast()) {
      if (now - kept.idleSince() < settings.idleMillis() * 1_000_000L || !permits.tryAcquire()) {
        return;
      }
      try {
        if (idle.removeLastOccurrence(kept)) {
          kept.limitNetworkTo(settings.requestTimeoutMillis()); // A caller's was shorter.
          end(kept);
        }
      } finally {
        permits.release();
      }
    }
  }

  boolean areAllBack() {
    return permits.availablePermits() == settings.connections();
  }

  boolean hasIdle() {
    return !idle.isEmpty();
  }

  /** Closes what idles, and everything that is given back from now on. */
  void close() {
    closed = true;
    for (Session kept = idle.pollFirst(); kept != null; kept = idle.pollFirst()) {
      closing = kept;
      end(kept);
    }
  }

  /** Makes an end to what {@link #close} has not come to, without waiting for the server. */
  void abort() {
    closed = true;
    List<Session> rest = new ArrayList<>(idle);
    Session stuck = closing;
    if (stuck != null) {
      rest.add(stuck);
    }
    for (Session kept : rest) {
      kept.abort();
    }
    idle.clear();
  }
}
