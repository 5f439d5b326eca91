package dev.lukko.postgres;

import dev.lukko.LockException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Connections of a DataSource to a database that has our schema, which is looked at with the first
 * of them. Thread-safe.
 */
final class SchemaConnections {
  private final DataSource source;
  private final PostgresSchema schema;
  private final @Nullable QueueTable table;
  private volatile boolean checked;

  /**
   * Connections to a database.
   *
   * @param table is looked at as well, unless it is null
   */
  SchemaConnections(DataSource source, PostgresSchema schema, @Nullable QueueTable table) {
    this.source = source;
    this.schema = schema;
    this.table = table;
  }

  /**
   * A connection for a transaction of our own.
   *
   * @param instead what a caller should do who has a transaction open
   */
  BorrowedConnection borrow(String instead) throws SQLException {
    BorrowedConnection borrowed = BorrowedConnection.from(source, instead);
    try {
      if (!checked) {
        borrowed.call(this::check);
        checked = true;
      }
      return borrowed;
    } catch (SQLException | RuntimeException failure) {
      borrowed.giveBack();
      throw failure;
    }
  }

  private boolean check(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      schema.check(statement);
    }
    if (table != null) {
      QueueTableCheck.check(connection, table);
    }
    connection.commit();
    return true;
  }

  /** A short call in a transaction of its own. */
  <T> T call(BorrowedConnection.Work<T> work) {
    return call("Give the DataSource behind the proxy instead.", work);
  }

  <T> T call(String instead, BorrowedConnection.Work<T> work) {
    try {
      BorrowedConnection borrowed = borrow(instead);
      try {
        return borrowed.call(
            connection -> {
              T result = work.on(connection);
              connection.commit(); // Costs nothing where the statement has done that.
              return result;
            });
      } finally {
        borrowed.giveBack();
      }
    } catch (SQLException failure) {
      throw new LockException("the database refused: " + failure.getMessage(), failure);
    }
  }
}
