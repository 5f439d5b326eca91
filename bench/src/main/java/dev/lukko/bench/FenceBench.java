package dev.lukko.bench;

import dev.lukko.jdbc.JdbcFence;
import dev.lukko.jdbc.RowFence;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.PrintStream;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;

/** What a fence adds to the caller's transaction: in statements, and in time. */
final class FenceBench {
  private static final String UPDATE = "UPDATE account SET balance = balance + ? WHERE id = ?";
  private static final long TOKEN = 33;
  private static final long ID = 7;

  private FenceBench() {}

  /** The work of one transaction, without its commit. */
  private interface Work {
    void on(Connection connection) throws SQLException;
  }

  static void run(PrintStream out, int slices, int operations) throws Exception {
    JdbcFence fence = JdbcFence.create();
    RowFence row = RowFence.on("account", "fence", "id");
    Work bare = FenceBench::update;
    Work table =
        connection -> {
          fence.check(connection, "account:7", TOKEN);
          update(connection);
        };
    Work twoUpdates =
        connection -> {
          update(connection);
          update(connection);
        };
    Work column =
        connection -> row.update(connection, TOKEN, List.of(ID), "balance = balance + ?", 1);
    try (EmbeddedPostgres server = Postgres.start();
        Connection connection = server.getPostgresDatabase().getConnection()) {
      Postgres.execute(
          server.getPostgresDatabase(),
          "CREATE TABLE account (id bigint PRIMARY KEY, balance bigint, fence bigint DEFAULT 0)"
              + " WITH (fillfactor = 50); INSERT INTO account VALUES (7, 0, 0)");
      fence.createTable(connection);
      connection.setAutoCommit(false);
      new SideBySide("One update in a transaction on PostgreSQL", slices, operations)
          .subject("without a fence", () -> commit(connection, bare))
          .subject("without a fence, one more update", () -> commit(connection, twoUpdates))
          .subject("with the fence table: JdbcFence.check", () -> commit(connection, table))
          .subject("with the fence column: RowFence.update", () -> commit(connection, column))
          .run(out);
      out.printf(
          Locale.ROOT,
          "  statements in a transaction: %d without, %d with the table, %d with the column%n",
          statements(connection, bare),
          statements(connection, table),
          statements(connection, column));
    }
  }

  private static void commit(Connection connection, Work work) throws SQLException {
    work.on(connection);
    connection.commit();
  }

  private static void update(Connection connection) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(UPDATE)) {
      statement.setLong(1, 1);
      statement.setLong(2, ID);
      statement.executeUpdate();
    }
  }

  private static long statements(Connection connection, Work work) throws SQLException {
    AtomicLong executions = new AtomicLong();
    commit(Postgres.counted(connection, executions), work);
    return executions.get();
  }
}
