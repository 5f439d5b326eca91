package dev.lukko.jdbc;

import dev.lukko.time.Ticker;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Executor;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The node's own connections. The one used last is used next, so that there are no more than are
 * needed; the number of worker threads is their bound.
 */
final class Sessions {
  private static final long TRUSTED_NANOS = 2_000_000_000L;

  private final DataSource source;
  private final JdbcSettings settings;
  private final Ticker ticker;
  private final Executor aborting;
  private final ConcurrentLinkedDeque<Session> idle = new ConcurrentLinkedDeque<>();
  private volatile @Nullable Dialect dialect;
  private volatile @Nullable Statements statements;
  private volatile @Nullable String url;
  private volatile boolean schemaChecked;
  private volatile boolean closed;
  private volatile @Nullable Session closing;

  Sessions(DataSource source, JdbcSettings settings, Ticker ticker, Executor aborting) {
    this.source = source;
    this.settings = settings;
    this.ticker = ticker;
    this.aborting = aborting;
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

  /** A connection that is ready; blocks as long as the source does. */
  Session take() throws SQLException {
    for (Session kept = idle.pollFirst(); kept != null; kept = idle.pollFirst()) {
      boolean trusted = ticker.nanoTime() - kept.idleSince() < TRUSTED_NANOS;
      if (!kept.isBroken() && (trusted || kept.isAlive(settings.wholeSeconds()))) {
        return kept;
      }
      kept.markBroken();
      kept.close();
    }
    Session fresh = ready(source.getConnection());
    try {
      checkSchema(fresh);
    } catch (SQLException | RuntimeException failure) {
      fresh.close();
      throw failure;
    }
    return fresh;
  }

  /** A connection for listening, in autocommit mode; the caller closes it. */
  Session dedicated() throws SQLException {
    return ready(source.getConnection());
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
      } catch (SQLException | RuntimeException failure) {
        connection.close();
        throw failure;
      }
    }
    return Session.open(
        connection, known, aborting, settings.requestTimeoutMillis(), settings.idleMillis());
  }

  private Statements become(Dialect found) {
    dialect = found;
    Statements made = new Statements(found.traits());
    statements = made;
    return made;
  }

  private void checkSchema(Session session) throws SQLException {
    if (schemaChecked) {
      return;
    }
    Dialect known = dialect;
    if (known == null) {
      throw new IllegalStateException("a connection is open, so its dialect is known");
    }
    if (settings.createSchema()) {
      JdbcSchema.create(session.connection(), known);
    }
    JdbcSchema.check(session.connection(), known);
    schemaChecked = true;
  }

  /** Keeps a connection for the next request. */
  void giveBack(Session session) {
    if (session.isBroken() || closed) {
      session.close();
      return;
    }
    session.leaveDoubt();
    session.idleSince(ticker.nanoTime());
    idle.addFirst(session);
    if (closed && idle.remove(session)) {
      session.close();
    }
  }

  /** Drops a connection that cannot be trusted any more, and those that have idled beside it. */
  void discard(Session session) {
    session.markBroken();
    session.close();
    // The others were most likely to the same server, or went through the same firewall: each is
    // asked before its next use.
    long longAgo = ticker.nanoTime() - TRUSTED_NANOS;
    for (Session other : idle) {
      other.idleSince(Math.min(other.idleSince(), longAgo));
    }
  }

  /** Closes the connections that nobody has used for the idle time. */
  void closeIdle() {
    long now = ticker.nanoTime();
    for (Session kept = idle.peekLast(); kept != null; kept = idle.peekLast()) {
      if (now - kept.idleSince() < settings.idleMillis() * 1_000_000L) {
        return;
      }
      if (idle.removeLastOccurrence(kept)) {
        kept.close();
      }
    }
  }

  boolean hasIdle() {
    return !idle.isEmpty();
  }

  /** Closes what idles, and everything that is given back from now on. */
  void close() {
    closed = true;
    for (Session kept = idle.pollFirst(); kept != null; kept = idle.pollFirst()) {
      closing = kept;
      kept.close();
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
      kept.abort(aborting);
    }
    idle.clear();
  }
}
