package dev.lukko.postgres;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.core.BaseConnection;
import org.postgresql.core.TransactionState;

/**
 * A connection that a DataSource lends, not in autocommit mode, and gets back as it came.
 *
 * <p>Our own statements are bounded, and the driver sets no savepoints of its own around them; both
 * are as they came while the caller's work has the connection. Nothing is ever set on the server
 * session for longer than a transaction: behind a pooler in transaction mode the session is not
 * ours. A connection in doubt is aborted before it is given back, so that no pool takes it for
 * whole. Used by one thread at a time.
 */
final class BorrowedConnection {
  private static final int CALL_MILLIS = 15_000;
  private static final int CLEAN_UP_MILLIS = 5_000;
  private static final String SPRING_PROXY = "org.springframework.jdbc.datasource.ConnectionProxy";

  private final Connection connection;
  private final boolean autoCommit;
  private final int networkMillis;
  private boolean inDoubt;

  /** Work on the connection. */
  @FunctionalInterface
  interface Work<T extends @Nullable Object> {
    T on(Connection connection) throws SQLException;
  }

  private BorrowedConnection(Connection connection, String instead) throws SQLException {
    this.connection = connection;
    autoCommit = connection.getAutoCommit();
    if (!autoCommit && mayBelongToACaller()) {
      throw new IllegalStateException(
          "the DataSource has handed out the connection of a transaction that is running (Spring's"
              + " TransactionAwareDataSourceProxy does that); ending it here would commit what the"
              + " caller has written. "
              + instead);
    }
    networkMillis = connection.getNetworkTimeout();
    if (autoCommit) {
      connection.setAutoCommit(false);
    }
  }

  /**
   * Takes a connection.
   *
   * @param instead what a caller should do whose own transaction would be meddled with
   * @throws IllegalStateException if the connection comes with a transaction; nothing is changed
   */
  static BorrowedConnection from(DataSource source, String instead) throws SQLException {
    Connection connection = source.getConnection();
    try {
      return new BorrowedConnection(connection, instead);
    } catch (SQLException | RuntimeException refused) {
      PgConnector.closeQuietly(connection);
      throw refused;
    }
  }

  /** A pool may have autocommit off; then no transaction has begun. */
  private boolean mayBelongToACaller() throws SQLException {
    return !connection.isWrapperFor(BaseConnection.class)
        || connection.unwrap(BaseConnection.class).getTransactionState() != TransactionState.IDLE
        || Arrays.stream(connection.getClass().getInterfaces())
            .anyMatch(type -> type.getName().equals(SPRING_PROXY));
  }

  Connection connection() {
    return connection;
  }

  /** Runs statements of ours. */
  <T extends @Nullable Object> T call(Work<T> work) throws SQLException {
    return within(CALL_MILLIS, work);
  }

  /** Runs statements of ours at the end of a use; they may take less time. */
  <T extends @Nullable Object> T cleanUp(Work<T> work) throws SQLException {
    return within(CLEAN_UP_MILLIS, work);
  }

  /** Runs statements of ours, each of which may be silent for this long. */
  <T extends @Nullable Object> T within(int millis, Work<T> work) throws SQLException {
    connection.setNetworkTimeout(Runnable::run, millis);
    try {
      return DriverAutosave.without(connection, work);
    } finally {
      asItCame();
    }
  }

  private void asItCame() {
    try {
      if (!connection.isClosed()) {
        connection.setNetworkTimeout(Runnable::run, networkMillis);
      }
    } catch (SQLException broken) {
      inDoubt = true;
      log("a connection broke", broken);
    }
  }

  static void execute(Connection connection, String text) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(text);
    }
  }

  /** Rolls back what is open and gives the connection back. Bounded; never throws. */
  void giveBack() {
    try {
      if (!connection.isClosed()) {
        cleanUp(
            open -> {
              if (!open.getAutoCommit()) {
                open.rollback(); // Costs nothing when the transaction is over.
              }
              open.setAutoCommit(autoCommit);
              return true;
            });
      }
    } catch (SQLException | RuntimeException broken) {
      inDoubt = true;
      log("a connection was not put back as it was", broken);
    }
    if (inDoubt) {
      abort();
    }
    PgConnector.closeQuietly(connection);
  }

  /** Ends the connection without a word to the server. */
  private void abort() {
    try {
      connection.abort(Runnable::run);
    } catch (SQLException | RuntimeException failed) {
      log("a connection was not aborted", failed);
    }
  }

  private static void log(String what, Exception why) {
    System.getLogger(BorrowedConnection.class.getName()).log(System.Logger.Level.DEBUG, what, why);
  }
}
