package dev.lukko.postgres;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.postgresql.PGConnection;

/**
 * Tells a connection that is a server session from one that borrows a session for each transaction.
 *
 * <p>A server announces its process number when a connection begins. A pooler announces a number of
 * its own, since one client connection is no server session; so a difference between the announced
 * number and {@code pg_backend_pid()} shows that there is a pooler. Whether it hands its sessions
 * around shows in an experiment: while the first connection is open and idle, a second one begins a
 * transaction. In session mode it can never get the first one's server process, and the first one
 * never loses it.
 *
 * <p>The experiment can miss a pooler that many others use at that instant. Therefore, where there
 * is a pooler, every request for a lock compares the process number again, inside the statement;
 * every probe does so everywhere.
 */
final class PoolerCheck {
  private static final int ROUNDS = 3;

  private PoolerCheck() {}

  /**
   * Refuses a pooler that hands sessions around.
   *
   * @return whether there is a pooler at all
   */
  static boolean refuseTransactionPooling(Connection connection, PgConnector connector)
      throws SQLException {
    int server = backend(connection);
    if (connection.unwrap(PGConnection.class).getBackendPID() == server) {
      return false;
    }
    for (int round = 0; round < ROUNDS; round++) {
      if (givenToAnother(server, connector) || backend(connection) != server) {
        throw new UnsuitableDatabaseException(
            "a pooler between here and the server gives each transaction another server session"
                + " (server process "
                + server
                + " was handed on while its connection was open; PgBouncer with pool_mode ="
                + " transaction or statement does that). A session lock taken through it stays"
                + " with the client that gets the session next. Connect to the server directly, or to a"
                + " pool in session mode");
      }
    }
    System.getLogger(PoolerCheck.class.getName())
        .log(
            System.Logger.Level.INFO,
            "there is a pooler between here and the server; it keeps sessions as far as can be seen");
    return true;
  }

  /** Whether a second connection, in a transaction, works in the given server process. */
  private static boolean givenToAnother(int server, PgConnector connector) throws SQLException {
    Connection second;
    try {
      second = connector.open();
    } catch (SQLException poolExhausted) {
      return false; // A pool in session mode with all its sessions in use.
    }
    try {
      second.setAutoCommit(false);
      int other = backend(second);
      second.rollback();
      return other == server;
    } catch (java.sql.SQLException noSessionLeft) {
      return false;
    } finally {
      PgConnector.closeQuietly(second);
    }
  }

  /** The server process that works for a connection. */
  static int backend(Connection connection) throws SQLException {
    // A plain statement: prepared ones do not survive a change of the server session.
    try (Statement statement = connection.createStatement();
        ResultSet result = statement.executeQuery("SELECT pg_backend_pid()")) {
      result.next();
      return result.getInt(1);
    }
  }
}
