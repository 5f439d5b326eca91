package dev.lukko.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** SQLite. */
final class SqliteTraits extends DialectTraits {
  static final DialectTraits INSTANCE = new SqliteTraits();
  // Primary result codes; extended ones carry more in the higher bits.
  private static final int ERROR = 1;
  private static final int BUSY = 5;
  private static final int LOCKED = 6;
  private static final int READONLY = 8;
  private static final int FULL = 13;
  private static final int CANTOPEN = 14;
  private static final int CONSTRAINT = 19;
  private static final int CODE_MASK = 0xFF;

  @Override
  String now() {
    // In every version; milliseconds.
    return "(CAST((julianday('now') - 2440587.5) * 86400000.0 AS INTEGER) * 1000)";
  }

  @Override
  String greatest() {
    return "MAX";
  }

  /** Its columns take values of any type. */
  @Override
  String isNumber(String column) {
    return "typeof(" + column + ") = 'integer'";
  }

  @Override
  String forUpdate() {
    return ""; // BEGIN IMMEDIATE has locked the file.
  }

  @Override
  List<String> schema() {
    return List.of(
        """
        CREATE TABLE IF NOT EXISTS lukko_schema (
          component TEXT PRIMARY KEY,
          version INTEGER NOT NULL,
          identity TEXT NOT NULL
        )""",
        """
        CREATE TABLE IF NOT EXISTS lukko_lock (
          name TEXT PRIMARY KEY,
          owner TEXT,
          expires_at INTEGER NOT NULL,
          ttl INTEGER NOT NULL DEFAULT 0,
          shared_until INTEGER NOT NULL DEFAULT 0,
          counter INTEGER NOT NULL,
          grant_counter INTEGER NOT NULL
        ) WITHOUT ROWID""",
        """
        CREATE TABLE IF NOT EXISTS lukko_shared (
          name TEXT NOT NULL,
          owner TEXT NOT NULL,
          expires_at INTEGER NOT NULL,
          ttl INTEGER NOT NULL DEFAULT 0,
          grant_counter INTEGER NOT NULL,
          PRIMARY KEY (name, owner)
        ) WITHOUT ROWID""",
        """
        CREATE TABLE IF NOT EXISTS lukko_fleet (
          name TEXT PRIMARY KEY,
          record TEXT NOT NULL,
          seen TEXT NOT NULL,
          run TEXT NOT NULL,
          votes_from INTEGER NOT NULL
        ) WITHOUT ROWID""",
        "INSERT INTO lukko_schema (component, version, identity) VALUES ('lock', "
            + JdbcSchema.VERSION
            + ", lower(hex(randomblob(16)))) ON CONFLICT DO NOTHING");
  }

  @Override
  String where() {
    return "(SELECT 'file ' || file FROM pragma_database_list WHERE name = 'main')";
  }

  @Override
  String prepare(Connection connection, long requestTimeoutMillis, long idleMillis)
      throws SQLException {
    long before = number(connection, "PRAGMA busy_timeout");
    execute(connection, "PRAGMA busy_timeout = " + Math.max(1, requestTimeoutMillis * 4 / 5));
    // Kept in the file: readers no longer stand in the writer's way.
    String mode = texts(connection, "PRAGMA journal_mode = WAL").get(0);
    if (!mode.equals("wal") && !mode.equals("memory")) {
      throw new SchemaException(
          "SQLite could not switch its write-ahead log on for this file (the journal mode is "
              + mode
              + "): its file system does not lock or share memory as is needed; use a local disk",
          null);
    }
    return "PRAGMA busy_timeout = " + before;
  }

  @Override
  boolean hasReadCommitted() {
    return false;
  }

  /** The driver keeps a transaction open at all times; one in use refuses a checkpoint. */
  @Override
  boolean isInTransaction(Connection connection) throws SQLException {
    try {
      execute(connection, "PRAGMA wal_checkpoint(PASSIVE)");
      return false;
    } catch (SQLException failure) {
      if ((failure.getErrorCode() & CODE_MASK) == LOCKED) {
        return true;
      }
      throw failure;
    }
  }

  @Override
  void begin(Connection connection) throws SQLException {
    // The write lock at once: a transaction that reads first and writes later can be refused it.
    execute(connection, "BEGIN IMMEDIATE");
  }

  @Override
  void commit(Connection connection) throws SQLException {
    execute(connection, "COMMIT");
  }

  @Override
  void rollback(Connection connection) throws SQLException {
    try {
      execute(connection, "ROLLBACK");
    } catch (SQLException none) {
      if ((none.getErrorCode() & CODE_MASK) != ERROR) {
        throw none;
      }
      // There is no transaction: SQLite itself has rolled it back, or it never began.
    }
  }

  @Override
  boolean isConflict(SQLException failure) {
    int code = failure.getErrorCode() & CODE_MASK;
    return code == BUSY || code == LOCKED;
  }

  @Override
  boolean isCertain(SQLException failure) {
    int code = failure.getErrorCode() & CODE_MASK;
    return isConflict(failure)
        || code == ERROR
        || code == READONLY
        || code == FULL
        || code == CANTOPEN
        || code == CONSTRAINT;
  }

  @Override
  boolean isElsewhere(SQLException failure) {
    int code = failure.getErrorCode() & CODE_MASK;
    return code == ERROR || code == READONLY || code == CANTOPEN;
  }

  @Override
  boolean isMissingTable(SQLException failure) {
    String message = failure.getMessage();
    return message != null && message.contains("no such table");
  }

  @Override
  boolean isDuplicate(SQLException failure) {
    return (failure.getErrorCode() & CODE_MASK) == CONSTRAINT;
  }

  @Override
  void setText(PreparedStatement statement, int index, String text) throws SQLException {
    statement.setString(index, text);
  }

  @Override
  @Nullable String getText(ResultSet rows, int index) throws SQLException {
    return rows.getString(index);
  }
}
