package dev.lukko.jdbc;

import java.nio.charset.StandardCharsets;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** What the fence and the idempotency keys need to know of each database. */
final class Dialects {
  private Dialects() {}

  /** The database's clock in milliseconds since 1970, as an expression of type integer. */
  static String nowMillis(Dialect dialect) {
    return "(" + dialect.traits().now() + (dialect == Dialect.MYSQL ? " DIV 1000)" : " / 1000)");
  }

  /**
   * A column for a name of at most 255 characters that is compared exactly, whatever the database's
   * collation is. MySQL's text columns ignore trailing blanks, and most of them the case; H2 can be
   * set to ignore it; bytes do not. PostgreSQL's order of letters comes from the operating system,
   * and an upgrade that changes it breaks the index.
   */
  static String nameColumn(Dialect dialect) {
    return switch (dialect) {
      case POSTGRES -> "VARCHAR(255) COLLATE \"C\"";
      case MYSQL, H2 -> "VARBINARY(765)";
      case SQLITE -> "VARCHAR(255) COLLATE BINARY";
    };
  }

  private static boolean areNamesBytes(Dialect dialect) {
    return dialect == Dialect.MYSQL || dialect == Dialect.H2;
  }

  static void bindName(Dialect dialect, PreparedStatement statement, int index, String name)
      throws SQLException {
    if (areNamesBytes(dialect)) {
      statement.setBytes(index, name.getBytes(StandardCharsets.UTF_8));
    } else {
      statement.setString(index, name);
    }
  }

  static String readName(Dialect dialect, ResultSet row, int index) throws SQLException {
    return areNamesBytes(dialect)
        ? new String(row.getBytes(index), StandardCharsets.UTF_8)
        : row.getString(index);
  }

  /**
   * What makes a query read what is committed now, and not the transaction's snapshot. PostgreSQL
   * would refuse to serialize instead, which is right; SQLite has one writer.
   */
  static String currentRead(Dialect dialect) {
    return dialect == Dialect.SQLITE ? "" : " FOR UPDATE";
  }
}
