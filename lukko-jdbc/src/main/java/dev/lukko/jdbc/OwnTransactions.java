package dev.lukko.jdbc;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Work in transactions of its own, on connections of a data source.
 *
 * <p>Some data sources hand out the connection of the transaction that is running in the thread.
 * Whoever switches that one to autocommit mode commits what the caller has written so far.
 */
final class OwnTransactions {
  private static final Logger LOG = System.getLogger(OwnTransactions.class.getName());

  private OwnTransactions() {}

  /** Work on a connection in autocommit mode, which it may leave meanwhile. */
  @FunctionalInterface
  interface Work<T, X extends Throwable> {
    @Nullable T on(Connection connection, Dialect dialect) throws SQLException, X;
  }

  /**
   * Runs work on a connection, which goes back in the mode in which it came.
   *
   * @param what the work, for messages
   * @param otherwise what to do for work inside of the transaction, for messages
   * @throws IllegalStateException if the connection comes with a transaction in it; nothing was
   *     written
   */
  static <T, X extends Throwable> @Nullable T run(
      DataSource database, String what, String otherwise, Work<T, X> work) throws SQLException, X {
    try (Connection connection = database.getConnection()) {
      Dialect dialect = Dialect.of(connection);
      if (dialect.traits().hasTransaction(connection)) {
        throw new IllegalStateException(
            "the data source has handed out a connection with a transaction in it, which "
                + what
                + " would commit; give it a data source whose connections belong to no transaction"
                + " (the target of Spring's TransactionAwareDataSourceProxy, for example)"
                + otherwise);
      }
      boolean autoCommit = connection.getAutoCommit();
      try {
        if (!autoCommit) {
          connection.setAutoCommit(true);
        }
        return work.on(connection, dialect);
      } finally {
        restore(connection, autoCommit);
      }
    }
  }

  /** A connection that cannot do this is broken; the pool will see that, too. */
  private static void restore(Connection connection, boolean autoCommit) {
    try {
      if (connection.getAutoCommit() != autoCommit) {
        connection.setAutoCommit(autoCommit);
      }
    } catch (SQLException broken) {
      LOG.log(Level.WARNING, "autocommit mode not restored on a connection: {0}", broken);
    }
  }
}
