package dev.lukko.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** H2. */
final class H2Traits extends DialectTraits {
  static final DialectTraits INSTANCE = new H2Traits();
  private static final int LOCK_TIMEOUT = 50200;
  private static final int DEADLOCK = 40001;
  private static final int CONCURRENT_UPDATE = 90131;
  private static final int TABLE_NOT_FOUND = 42102;
  private static final int TABLE_NOT_FOUND_CANDIDATES = 42103;
  private static final int TABLE_NOT_FOUND_EMPTY = 42104;

  @Override
  String now() {
    return "CAST(EXTRACT(EPOCH FROM CURRENT_TIMESTAMP(6)) * 1000000 AS BIGINT)";
  }

  @Override
  int lockBatch() {
    // Rows are locked as they are read, before they are sorted.
    return 1;
  }

  @Override
  String shareOfRecord() {
    return " FOR UPDATE";
  }

  @Override
  List<String> schema() {
    return List.of(
        """
        CREATE TABLE IF NOT EXISTS lukko_schema (
          component VARCHAR(32) PRIMARY KEY,
          version INTEGER NOT NULL,
          identity VARCHAR(64) NOT NULL
        )""",
        """
        CREATE TABLE IF NOT EXISTS lukko_lock (
          name VARBINARY(1020) PRIMARY KEY,
          owner VARBINARY(1020),
          expires_at BIGINT NOT NULL,
          ttl BIGINT DEFAULT 0 NOT NULL,
          shared_until BIGINT DEFAULT 0 NOT NULL,
          counter BIGINT NOT NULL,
          grant_counter BIGINT NOT NULL
        )""",
        """
        CREATE TABLE IF NOT EXISTS lukko_shared (
          name VARBINARY(1020) NOT NULL,
          owner VARBINARY(1020) NOT NULL,
          expires_at BIGINT NOT NULL,
          ttl BIGINT DEFAULT 0 NOT NULL,
          grant_counter BIGINT NOT NULL,
          PRIMARY KEY (name, owner)
        )""",
        """
        CREATE TABLE IF NOT EXISTS lukko_fleet (
          name VARBINARY(1020) PRIMARY KEY,
          record VARBINARY(100000) NOT NULL,
          seen VARBINARY(100000) NOT NULL,
          run VARBINARY(64) NOT NULL,
          votes_from BIGINT NOT NULL
        )""",
        "INSERT INTO lukko_schema (component, version, identity) SELECT 'lock', "
            + JdbcSchema.VERSION
            + ", CAST(RANDOM_UUID() AS VARCHAR) WHERE NOT EXISTS (SELECT 1 FROM lukko_schema WHERE component = 'lock')");
  }

  @Override
  String where() {
    return "'database ' || CURRENT_CATALOG || ', schema ' || CURRENT_SCHEMA";
  }

  @Override
  String prepare(Connection connection, long requestTimeoutMillis, long idleMillis)
      throws SQLException {
    long before = number(connection, "CALL LOCK_TIMEOUT()");
    execute(connection, "SET LOCK_TIMEOUT " + Math.max(1, requestTimeoutMillis * 4 / 5));
    return "SET LOCK_TIMEOUT " + before;
  }

  @Override
  boolean isInTransaction(Connection connection) throws SQLException {
    return !texts(
            connection,
            "SELECT 'yes' FROM INFORMATION_SCHEMA.SESSIONS"
                + " WHERE SESSION_ID = SESSION_ID() AND CONTAINS_UNCOMMITTED")
        .isEmpty();
  }

  @Override
  String warnings() {
    return "SELECT 'the database is in memory: it forgets everything with its process'"
        + " WHERE DATABASE_PATH() IS NULL";
  }

  @Override
  boolean isConflict(SQLException failure) {
    return failure.getErrorCode() == DEADLOCK || failure.getErrorCode() == CONCURRENT_UPDATE;
  }

  @Override
  boolean isCertain(SQLException failure) {
    return failure.getErrorCode() == LOCK_TIMEOUT
        || isConflict(failure)
        || super.isCertain(failure);
  }

  @Override
  boolean isMissingTable(SQLException failure) {
    int code = failure.getErrorCode();
    return code == TABLE_NOT_FOUND
        || code == TABLE_NOT_FOUND_CANDIDATES
        || code == TABLE_NOT_FOUND_EMPTY;
  }
}
