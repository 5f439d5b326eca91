package dev.lukko.jdbc;

import dev.lukko.time.Ticker;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * One of the node's own connections, in autocommit mode at READ COMMITTED, with its prepared
 * statements. Used by one thread at a time; only {@link #abort} may come from another.
 */
final class Session {
  private static final System.Logger LOG = System.getLogger(Session.class.getName());
  private static final int MAX_PREPARED = 128;

  private final Connection connection;
  private Statements statements;
  private final DialectTraits traits;
  private final Executor executor;
  private final boolean autoCommitBefore;
  private final Map<String, PreparedStatement> prepared = new HashMap<>();
  private int isolationBefore = Connection.TRANSACTION_READ_COMMITTED;
  private @Nullable String restoring;
  private boolean shared;
  private String limits = "";
  private boolean toBeLeft;
  private @Nullable Place place;
  private String run = "";
  private int networkTimeoutBefore = -1;
  private int networkTimeout;
  private @Nullable Ticker callersTime;
  private long callersEndNanos;
  private volatile boolean broken;
  private boolean inDoubt;
  private long idleSinceNanos;

  private Session(
      Connection connection, Statements statements, Executor executor, boolean autoCommitBefore) {
    this.connection = connection;
    this.statements = statements;
    this.traits = statements.traits();
    this.executor = executor;
    this.autoCommitBefore = autoCommitBefore;
  }

  /** Makes a connection ready; it is closed, as it came, if that fails. */
  static Session open(
      Connection connection,
      Statements statements,
      Executor executor,
      long requestTimeoutMillis,
      long idleMillis)
      throws SQLException {
    Session session;
    try {
      session = new Session(connection, statements, executor, connection.getAutoCommit());
    } catch (SQLException | RuntimeException | Error failure) {
      closeQuietly(connection);
      throw failure;
    }
    try {
      session.prepare(requestTimeoutMillis, idleMillis);
      return session;
    } catch (SQLException | RuntimeException | Error failure) {
      session.close();
      throw failure;
    }
  }

  private void prepare(long requestTimeoutMillis, long idleMillis) throws SQLException {
    limitNetworkTo(requestTimeoutMillis);
    if (!autoCommitBefore) {
      connection.setAutoCommit(true);
    }
    int isolation = connection.getTransactionIsolation();
    shared = traits.isBehindPooler(connection);
    if (shared) {
      limits = traits.prepareTransaction(requestTimeoutMillis);
      if (isolation != Connection.TRANSACTION_READ_COMMITTED) {
        statements = statements.sharingRecords();
      }
      return;
    }
    if (traits.hasReadCommitted() && isolation != Connection.TRANSACTION_READ_COMMITTED) {
      connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
      isolationBefore = isolation;
    }
    restoring = traits.prepare(connection, requestTimeoutMillis, idleMillis);
  }

  /** Limits every wait for the network as suits requests with this timeout. */
  void limitNetworkTo(long requestTimeoutMillis) {
    callersTime = null;
    // Later than the server's own limits, so that those can answer for certain.
    limitNetwork(requestTimeoutMillis + 250);
  }

  /**
   * Limits all waits for the network together, for a caller that uses the connection itself; false
   * if the driver cannot.
   */
  boolean limitNetworkTo(Ticker ticker, long timeoutMillis) {
    callersTime = null;
    callersEndNanos = ticker.nanoTime() + timeoutMillis * 1_000_000L;
    boolean limited = limitNetwork(timeoutMillis); // For the first statement, mostly for nothing.
    callersTime = ticker;
    return limited;
  }

  /** To be called before each statement: what came before it has used up some of the time. */
  void beforeStatement() throws SQLException {
    if (broken) {
      throw new SQLException("the connection was given up", "08003");
    }
    Ticker ticker = callersTime;
    if (ticker != null) {
      long leftMillis = (callersEndNanos - ticker.nanoTime() + 999_999) / 1_000_000;
      if (leftMillis < networkTimeout) {
        limitNetwork(Math.max(1, leftMillis));
      }
    }
  }

  /** Limits each wait for the network; false if the driver cannot. Free if the limit is that. */
  private boolean limitNetwork(long timeoutMillis) {
    int millis = (int) Math.min(Integer.MAX_VALUE, timeoutMillis);
    if (millis == networkTimeout) {
      return true;
    }
    try {
      int before =
          networkTimeoutBefore >= 0 ? networkTimeoutBefore : connection.getNetworkTimeout();
      connection.setNetworkTimeout(executor, millis);
      networkTimeoutBefore = before;
      networkTimeout = millis;
      return true;
    } catch (SQLException | AbstractMethodError | UnsupportedOperationException unsupported) {
      LOG.log(System.Logger.Level.DEBUG, "the driver has no network timeout", unsupported);
      return false;
    }
  }

  Connection connection() {
    return connection;
  }

  DialectTraits traits() {
    return traits;
  }

  /** The statement of this text, prepared at its first use on this connection. */
  PreparedStatement prepared(String sql) throws SQLException {
    beforeStatement();
    PreparedStatement statement = prepared.get(sql);
    if (statement == null) {
      if (prepared.size() >= MAX_PREPARED) {
        for (PreparedStatement old : prepared.values()) {
          old.close();
        }
        prepared.clear();
      }
      statement = connection.prepareStatement(sql);
      prepared.put(sql, statement);
    }
    return statement;
  }

  /** Begins a transaction of several statements. */
  void begin() throws SQLException {
    beforeStatement();
    traits.begin(connection);
    if (!limits.isEmpty()) {
      DialectTraits.execute(connection, limits);
    }
  }

  void commit() throws SQLException {
    beforeStatement();
    enterDoubt();
    traits.commit(connection);
    leaveDoubt();
  }

  void rollback() throws SQLException {
    beforeStatement();
    traits.rollback(connection);
  }

  /** Rolls back after a failure. */
  void abandon(Exception failure) {
    try {
      rollback();
    } catch (SQLException | RuntimeException second) {
      failure.addSuppressed(second);
      markBroken();
    }
  }

  /** The connection was looked at: it leads here. */
  void leadsTo(Place found) {
    place = found;
    run = found.run();
  }

  /** Where the connection leads to. */
  Place place() {
    return Objects.requireNonNull(place);
  }

  /** The run of the database for which its records have to be made. */
  String run() {
    return run;
  }

  /** Whether a pooler lends the server's session for a transaction at a time. */
  boolean isShared() {
    return shared;
  }

  /** Has the connection dropped when the request has its answer: this server is not the one. */
  void leaveAfterwards() {
    toBeLeft = true;
  }

  boolean isToBeLeft() {
    return toBeLeft;
  }

  /** From now on, a broken connection leaves it open whether something was written. */
  void enterDoubt() {
    inDoubt = true;
  }

  /** The server has answered: what was sent is applied or is not, but it is known. */
  void leaveDoubt() {
    inDoubt = false;
  }

  boolean isInDoubt() {
    return inDoubt;
  }

  /** Whether a write can return what it wrote, and notify. */
  boolean isPostgres() {
    return traits.isPostgres();
  }

  Statements statements() {
    return statements;
  }

  /** Makes an end to the connection from another thread, without waiting for the server. */
  void abort() {
    broken = true;
    if (isPostgres()) {
      abortNow(executor);
    } else {
      // MariaDB's driver asks the server over another connection first, whatever it is told.
      executor.execute(() -> abortNow(executor));
    }
  }

  private void abortNow(Executor closer) {
    try {
      connection.abort(closer);
    } catch (SQLException | RuntimeException failure) {
      LOG.log(System.Logger.Level.DEBUG, "a connection could not be aborted", failure);
    }
  }

  void markBroken() {
    broken = true;
  }

  boolean isBroken() {
    return broken;
  }

  boolean isAlive(int timeoutSeconds) {
    try {
      return connection.isValid(timeoutSeconds);
    } catch (SQLException | RuntimeException failure) {
      return false;
    }
  }

  void idleSince(long nanos) {
    idleSinceNanos = nanos;
  }

  long idleSince() {
    return idleSinceNanos;
  }

  /**
   * Closes the connection, as it was if it works; it may be a pool's. One that is broken is aborted
   * before, or a pool could take it for whole, with our settings on it, if its answer came in the
   * very moment at which it was given up.
   */
  void close() {
    try {
      if (broken) {
        abortNow(Runnable::run); // Behind this, nobody uses it, and nothing is waited for.
      } else {
        for (PreparedStatement statement : prepared.values()) {
          statement.close();
        }
        if (restoring != null) {
          DialectTraits.execute(connection, restoring);
        }
        if (isolationBefore != Connection.TRANSACTION_READ_COMMITTED) {
          connection.setTransactionIsolation(isolationBefore);
        }
        if (!autoCommitBefore) {
          connection.setAutoCommit(false);
        }
        if (networkTimeoutBefore >= 0) {
          connection.setNetworkTimeout(Runnable::run, networkTimeoutBefore);
        }
      }
    } catch (SQLException | RuntimeException failure) {
      LOG.log(System.Logger.Level.DEBUG, "a connection was not put back as it was", failure);
    } finally {
      closeQuietly(connection);
    }
  }

  private static void closeQuietly(Connection connection) {
    try {
      connection.close();
    } catch (SQLException | RuntimeException failure) {
      LOG.log(System.Logger.Level.DEBUG, "a connection was not closed", failure);
    }
  }
}
