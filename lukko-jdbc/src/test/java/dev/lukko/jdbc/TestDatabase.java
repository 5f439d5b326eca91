package dev.lukko.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import javax.sql.DataSource;

/** A real database with the lock's tables, and a look behind the node's back. */
record TestDatabase(Dialect dialect, DataSource source) {

  static TestDatabase create(Dialect dialect, DataSource source) {
    try {
      JdbcSchema.create(source);
    } catch (SQLException failure) {
      throw new IllegalStateException("no tables in the test database", failure);
    }
    return new TestDatabase(dialect, source);
  }

  JdbcNodeBuilder node() {
    return JdbcNode.builder(source);
  }

  /** Ends the entries of a resource, as if their time were over. */
  void expire(String name) {
    update("UPDATE lukko_lock SET expires_at = 0, shared_until = 0 WHERE name = ?", name);
    update("UPDATE lukko_shared SET expires_at = 0 WHERE name = ?", name);
  }

  /** Creates the row of a resource that nobody has held yet. */
  void createRow(String name) {
    update(
        "INSERT INTO lukko_lock (name, owner, expires_at, counter, grant_counter)"
            + " VALUES (?, NULL, 0, 0, 0)",
        name);
  }

  /** Sets a resource's counter to a number, or to something else where the database allows it. */
  void setCounter(String name, String sqlLiteral) {
    update("UPDATE lukko_lock SET counter = " + sqlLiteral + " WHERE name = ?", name);
  }

  long number(String sql, String name) {
    try (Connection connection = source.getConnection();
        PreparedStatement statement = connection.prepareStatement(sql)) {
      dialect.traits().setText(statement, 1, name);
      try (ResultSet rows = statement.executeQuery()) {
        return rows.next() ? rows.getLong(1) : -1;
      }
    } catch (SQLException failure) {
      throw new AssertionError(sql, failure);
    }
  }

  /** How many living entries a resource has, by the database's clock. */
  long holders(String name) {
    String now = dialect.traits().now();
    return number(
            "SELECT COUNT(*) FROM lukko_lock WHERE owner IS NOT NULL AND expires_at > "
                + now
                + " AND name = ?",
            name)
        + number(
            "SELECT COUNT(*) FROM lukko_shared WHERE expires_at > " + now + " AND name = ?", name);
  }

  long counter(String name) {
    return number("SELECT counter FROM lukko_lock WHERE name = ?", name);
  }

  void update(String sql, String name) {
    try (Connection connection = source.getConnection();
        PreparedStatement statement = connection.prepareStatement(sql)) {
      dialect.traits().setText(statement, 1, name);
      statement.executeUpdate();
    } catch (SQLException failure) {
      throw new AssertionError(sql, failure);
    }
  }

  /** Leaves nothing in the tables but their identity. */
  void forget() {
    for (String table : List.of("lukko_lock", "lukko_shared", "lukko_fleet")) {
      execute("DELETE FROM " + table);
    }
  }

  /** Drops the tables and makes them anew. */
  void makeAnew() {
    for (String table : List.of("lukko_lock", "lukko_shared", "lukko_fleet", "lukko_schema")) {
      execute("DROP TABLE " + table);
    }
    create(dialect, source);
  }

  void execute(String sql) {
    try (Connection connection = source.getConnection()) {
      DialectTraits.execute(connection, sql);
    } catch (SQLException failure) {
      throw new AssertionError(sql, failure);
    }
  }
}
