package dev.lukko.jdbc;

import dev.lukko.Lease;
import dev.lukko.fencing.StaleTokenException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import javax.sql.DataSource;

/** Code of the guide on fencing, here to be compiled. */
final class FencingSnippets {

  void table(DataSource database, Lease lease) throws SQLException {
    // begin table
    JdbcFence fence = JdbcFence.create();
    try (Connection connection = database.getConnection()) {
      connection.setAutoCommit(false);
      fence.check(connection, lease); // first: it locks the fence's row until the commit
      execute(connection, "UPDATE account SET balance = balance - 100 WHERE id = 7");
      execute(connection, "INSERT INTO booking VALUES (7, -100)");
      connection.commit();
    }
    // end table
  }

  void row(Connection connection, Lease lease) throws SQLException {
    // begin row
    RowFence accounts = RowFence.on("account", "fence", "id");
    boolean found = accounts.update(connection, lease, List.of(7), "balance = balance - ?", 100);
    // end row
    if (!found) {
      throw new IllegalStateException("no account 7");
    }
  }

  boolean ownStatement(Connection connection, RowFence accounts, long token) throws SQLException {
    // begin own-statement
    String sql =
        "UPDATE account SET balance = balance - 100, "
            + accounts.assignment()
            + " WHERE id = 7 AND "
            + accounts.predicate();
    try (PreparedStatement update = connection.prepareStatement(sql)) {
      update.setLong(1, token);
      update.setLong(2, token);
      return accounts.written(connection, update.executeUpdate(), token, List.of(7));
    }
    // end own-statement
  }

  void trigger(Connection connection) throws SQLException {
    // begin trigger
    execute(connection, "ALTER TABLE account ADD COLUMN fence BIGINT NOT NULL DEFAULT 0");
    execute(connection, JdbcFence.triggerDdl("account", "fence"));
    // end trigger
  }

  void refusal(Connection connection, Lease lease) throws SQLException {
    // begin refusal
    try {
      execute(
          connection,
          "UPDATE account SET balance = 0, fence = " + lease.fencingToken() + " WHERE id = 7");
    } catch (SQLException failed) {
      StaleTokenException stale = JdbcFence.staleToken(failed).orElseThrow(() -> failed);
      throw stale; // 33 was refused: 34 has been seen
    }
    // end refusal
  }

  void read(Connection connection, Lease lease, JdbcFence fence) throws SQLException {
    // begin read
    fence.touch(connection, lease); // before the query
    execute(connection, "SELECT balance FROM account WHERE id = 7");
    // end read
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }
}
