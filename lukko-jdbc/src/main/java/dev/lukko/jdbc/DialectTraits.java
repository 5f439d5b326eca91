package dev.lukko.jdbc;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** In what a database differs from the others, as far as a lock node meets it. */
abstract class DialectTraits {

  /** The server's clock in microseconds since 1970, as an expression of type 64-bit integer. */
  abstract String now();

  boolean isPostgres() {
    return false;
  }

  /** The function that gives the larger of two numbers. */
  String greatest() {
    return "GREATEST";
  }

  /** Whether a whole number stands in a column: another program may have written what is none. */
  String isNumber(String column) {
    return column + " IS NOT NULL";
  }

  /** What locks the rows that a query reads until the transaction ends; may be empty. */
  String forUpdate() {
    return " FOR UPDATE";
  }

  /**
   * What ends the subquery of a write that reads a fleet's record, so that the record stays as it
   * is until the write is committed; may be empty. See {@link RecordCheck}.
   */
  String shareOfRecord() {
    return "";
  }

  /**
   * What has to be done first in a transaction that changes records: it lets one of them in at a
   * time, and none while a write that rests on a record is under way.
   */
  String lockRecords() {
    return "SELECT identity FROM lukko_schema WHERE component = 'lock'" + forUpdate();
  }

  /** What follows the table's name so that rows are read by primary key; may be empty. */
  String byPrimaryKey() {
    return "";
  }

  /** How many rows one query may lock in sorted order. */
  int lockBatch() {
    return 64;
  }

  /** The statements that create the schema where it does not exist; they can be repeated. */
  abstract List<String> schema();

  /** The database and the schema that a connection works in, as an expression of type text. */
  abstract String where();

  /** What tells this server from another one, yet not from its replica; empty if unknown. */
  String server(Connection connection) {
    return "";
  }

  /**
   * Whether the server's session is lent to this connection for one transaction at a time, so that
   * what is set on it would stay there for others.
   */
  boolean isBehindPooler(Connection connection) throws SQLException {
    return false;
  }

  /**
   * Makes a fresh connection ready: limits that the server itself keeps.
   *
   * @return the statement that sets them to what they were, for a connection that returns to a pool
   */
  abstract String prepare(Connection connection, long requestTimeoutMillis, long idleMillis)
      throws SQLException;

  /** The same limits for the transaction that has just begun, behind a pooler; may be empty. */
  String prepareTransaction(long requestTimeoutMillis) {
    return "";
  }

  /** Whether the connection has to be told to work at READ COMMITTED. */
  boolean hasReadCommitted() {
    return true;
  }

  /**
   * Whether a transaction is open that has read or written something, as far as the database can
   * tell; a query that looks at no table, such as a pool's test of its connection, is none.
   */
  final boolean hasTransaction(Connection connection) throws SQLException {
    return !connection.getAutoCommit() && isInTransaction(connection);
  }

  /** The same for a connection that is not in autocommit mode. */
  abstract boolean isInTransaction(Connection connection) throws SQLException;

  void begin(Connection connection) throws SQLException {
    connection.setAutoCommit(false);
  }

  void commit(Connection connection) throws SQLException {
    connection.commit();
    connection.setAutoCommit(true);
  }

  void rollback(Connection connection) throws SQLException {
    if (!connection.getAutoCommit()) {
      connection.rollback();
      connection.setAutoCommit(true);
    }
  }

  /** A query for why this server must never vote, one row per reason; empty if there is none. */
  String unfit() {
    return "";
  }

  /** A query for what makes the server forget, one row per reason; empty if there is none. */
  String warnings() {
    return "";
  }

  /** Whether the server answered that it rolled back for the sake of others: worth a retry. */
  abstract boolean isConflict(SQLException failure);

  /**
   * Whether a failed statement has certainly changed nothing. A failure of the connection says
   * nothing of the kind: the server may have applied the statement before, or may do it later.
   */
  boolean isCertain(SQLException failure) {
    String state = failure.getSQLState();
    if (state == null || state.length() != 5 || state.equals("40003")) {
      return false;
    }
    return switch (state.substring(0, 2)) {
      case "0A", "21", "22", "23", "25", "28", "40", "42", "44", "53", "54", "55" -> true;
      default -> state.equals("57014");
    };
  }

  /**
   * Whether a failure that is certain says that this session leads to the wrong place, or to one
   * that cannot serve at the moment: read-only, without the tables, without the rights. Another
   * session may lead to another server: the name of the database is not bound to one.
   */
  boolean isElsewhere(SQLException failure) {
    String state = failure.getSQLState();
    if (state == null || state.length() != 5) {
      return false;
    }
    return switch (state.substring(0, 2)) {
      case "0A", "25", "26", "28", "3D", "3F", "42" -> true;
      default -> state.equals("55000");
    };
  }

  /** Whether the tables do not exist. */
  abstract boolean isMissingTable(SQLException failure);

  /** Whether a row with the same key was there first. */
  boolean isDuplicate(SQLException failure) {
    String state = failure.getSQLState();
    return state != null && state.startsWith("23");
  }

  /** Texts are compared byte by byte: most text types fold case or ignore trailing blanks. */
  void setText(PreparedStatement statement, int index, String text) throws SQLException {
    statement.setBytes(index, text.getBytes(StandardCharsets.UTF_8));
  }

  @Nullable String getText(ResultSet rows, int index) throws SQLException {
    byte[] bytes = rows.getBytes(index);
    return bytes == null ? null : new String(bytes, StandardCharsets.UTF_8);
  }

  static long number(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      rows.next();
      return rows.getLong(1);
    }
  }

  static List<String> texts(Connection connection, String sql) throws SQLException {
    List<String> found = new ArrayList<>();
    if (!sql.isEmpty()) {
      try (Statement statement = connection.createStatement();
          ResultSet rows = statement.executeQuery(sql)) {
        while (rows.next()) {
          found.add(rows.getString(1));
        }
      }
    }
    return found;
  }

  static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }
}
