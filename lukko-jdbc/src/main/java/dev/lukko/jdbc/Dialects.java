package dev.lukko.jdbc;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;

/** What the fence and the idempotency keys need to know of each database. */
final class Dialects {
  private Dialects() {}

  /** Which database this is. The drivers know it without asking the server. */
  static Dialect of(Connection connection) throws SQLException {
    String product = connection.getMetaData().getDatabaseProductName();
    return switch (product) {
      case "PostgreSQL" -> Dialect.POSTGRES;
      case "MySQL", "MariaDB" -> Dialect.MYSQL;
      case "H2" -> Dialect.H2;
      case "SQLite" -> Dialect.SQLITE;
      default ->
          throw new SQLFeatureNotSupportedException(
              "database \"" + product + "\" is not one of PostgreSQL, MySQL, MariaDB, H2, SQLite");
    };
  }

  /** The database's clock in milliseconds since 1970, whatever the session's time zone. */
  static String nowMillis(Dialect dialect) {
    return switch (dialect) {
      case POSTGRES -> "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)";
      case MYSQL -> "TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(6)) DIV 1000";
      case H2 -> "CAST(EXTRACT(EPOCH FROM CURRENT_TIMESTAMP) * 1000 AS BIGINT)";
      case SQLITE -> "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)";
    };
  }

  /**
   * A column for a name of at most 255 characters that is compared exactly. MySQL's text columns
   * ignore trailing blanks, and most of them the case; bytes do not.
   */
  static String nameColumn(Dialect dialect) {
    return dialect == Dialect.MYSQL ? "VARBINARY(765)" : "VARCHAR(255)";
  }

  static void bindName(Dialect dialect, PreparedStatement statement, int index, String name)
      throws SQLException {
    if (dialect == Dialect.MYSQL) {
      statement.setBytes(index, name.getBytes(StandardCharsets.UTF_8));
    } else {
      statement.setString(index, name);
    }
  }

  static String readName(Dialect dialect, ResultSet row, int index) throws SQLException {
    return dialect == Dialect.MYSQL
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
