package dev.lukko.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** MySQL and MariaDB. */
final class MySqlTraits extends DialectTraits {
  static final DialectTraits INSTANCE = new MySqlTraits();
  private static final int DEADLOCK = 1213;
  private static final int LOCK_WAIT_TIMEOUT = 1205;
  private static final int RECORD_CHANGED = 1020;
  private static final int NO_SUCH_TABLE = 1146;
  private static final int DUPLICATE = 1062;

  @Override
  String now() {
    // UNIX_TIMESTAMP(NOW(6)) would go through the session's time zone, and stumble at its changes.
    return "TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(6))";
  }

  @Override
  String byPrimaryKey() {
    return " FORCE INDEX (PRIMARY)";
  }

  @Override
  List<String> schema() {
    return List.of(
        """
        CREATE TABLE IF NOT EXISTS lukko_schema (
          component VARCHAR(32) NOT NULL PRIMARY KEY,
          version INT NOT NULL,
          identity VARCHAR(64) NOT NULL
        ) ENGINE = InnoDB""",
        """
        CREATE TABLE IF NOT EXISTS lukko_lock (
          name VARBINARY(1020) NOT NULL PRIMARY KEY,
          owner VARBINARY(1020),
          expires_at BIGINT NOT NULL,
          shared_until BIGINT NOT NULL DEFAULT 0,
          counter BIGINT NOT NULL,
          grant_counter BIGINT NOT NULL
        ) ENGINE = InnoDB ROW_FORMAT = DYNAMIC""",
        """
        CREATE TABLE IF NOT EXISTS lukko_shared (
          name VARBINARY(1020) NOT NULL,
          owner VARBINARY(1020) NOT NULL,
          expires_at BIGINT NOT NULL,
          grant_counter BIGINT NOT NULL,
          PRIMARY KEY (name, owner)
        ) ENGINE = InnoDB ROW_FORMAT = DYNAMIC""",
        "INSERT IGNORE INTO lukko_schema (component, version, identity) VALUES ('lock', "
            + JdbcSchema.VERSION
            + ", UUID())");
  }

  @Override
  String prepare(Connection connection, long requestTimeoutMillis, long idleMillis)
      throws SQLException {
    // A client that is stopped inside a transaction must not keep its row locks for hours: the
    // server ends sessions that are silent for longer than we would let them.
    long lockSeconds = Math.max(1, requestTimeoutMillis * 4 / 5 / 1_000);
    long silentSeconds = (idleMillis + requestTimeoutMillis) / 1_000 + 1;
    execute(
        connection,
        "SET SESSION innodb_lock_wait_timeout = "
            + lockSeconds
            + ", SESSION wait_timeout = "
            + silentSeconds);
    return "SET SESSION innodb_lock_wait_timeout = DEFAULT, SESSION wait_timeout = DEFAULT";
  }

  @Override
  String unfit() {
    return "SELECT 'it is read-only, as a replica is' FROM DUAL WHERE @@global.read_only <> 0";
  }

  @Override
  String warnings() {
    return """
        SELECT 'innodb_flush_log_at_trx_commit is not 1: a crash forgets the latest grants'
        FROM DUAL WHERE @@global.innodb_flush_log_at_trx_commit <> 1""";
  }

  @Override
  boolean isConflict(SQLException failure) {
    return failure.getErrorCode() == DEADLOCK || failure.getErrorCode() == RECORD_CHANGED;
  }

  @Override
  boolean isCertain(SQLException failure) {
    return failure.getErrorCode() == LOCK_WAIT_TIMEOUT
        || isConflict(failure)
        || super.isCertain(failure);
  }

  @Override
  boolean isMissingTable(SQLException failure) {
    return failure.getErrorCode() == NO_SUCH_TABLE;
  }

  @Override
  boolean isDuplicate(SQLException failure) {
    return failure.getErrorCode() == DUPLICATE;
  }
}
