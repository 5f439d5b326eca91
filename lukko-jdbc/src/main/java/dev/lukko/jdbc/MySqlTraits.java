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
  private static final int NOT_READY = 1047; // a node of a cluster that has lost the others
  private static final int SERVER_READ_ONLY = 1290;
  private static final int DISTRIBUTED_TRANSACTION_RUNS = 1399;
  private static final int TRANSACTION_RUNS = 1568;
  private static final int READ_ONLY_TRANSACTION = 1792;
  private static final int READ_ONLY_MODE = 1836;

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
  String shareOfRecord() {
    return " LOCK IN SHARE MODE";
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
          ttl BIGINT NOT NULL DEFAULT 0,
          shared_until BIGINT NOT NULL DEFAULT 0,
          counter BIGINT NOT NULL,
          grant_counter BIGINT NOT NULL
        ) ENGINE = InnoDB ROW_FORMAT = DYNAMIC""",
        """
        CREATE TABLE IF NOT EXISTS lukko_shared (
          name VARBINARY(1020) NOT NULL,
          owner VARBINARY(1020) NOT NULL,
          expires_at BIGINT NOT NULL,
          ttl BIGINT NOT NULL DEFAULT 0,
          grant_counter BIGINT NOT NULL,
          PRIMARY KEY (name, owner)
        ) ENGINE = InnoDB ROW_FORMAT = DYNAMIC""",
        """
        CREATE TABLE IF NOT EXISTS lukko_fleet (
          name VARBINARY(1020) NOT NULL PRIMARY KEY,
          record MEDIUMBLOB NOT NULL,
          seen MEDIUMBLOB NOT NULL,
          run VARBINARY(64) NOT NULL,
          votes_from BIGINT NOT NULL
        ) ENGINE = InnoDB ROW_FORMAT = DYNAMIC""",
        "INSERT IGNORE INTO lukko_schema (component, version, identity) VALUES ('lock', "
            + JdbcSchema.VERSION
            + ", UUID())");
  }

  /** Servers of one cluster may stand behind one address, so they are not told apart. */
  @Override
  String where() {
    return "CONCAT('database ', COALESCE(DATABASE(), 'none'))";
  }

  @Override
  String prepare(Connection connection, long requestTimeoutMillis, long idleMillis)
      throws SQLException {
    // A client that is stopped inside a transaction must not keep its row locks for hours: the
    // server ends sessions that are silent for longer than we would let them.
    long lockSeconds = Math.max(1, requestTimeoutMillis * 4 / 5 / 1_000);
    long silentSeconds = (idleMillis + requestTimeoutMillis) / 1_000 + 1;
    String restoring =
        texts(
                connection,
                "SELECT CONCAT('SET SESSION innodb_lock_wait_timeout = ',"
                    + " @@SESSION.innodb_lock_wait_timeout, ', SESSION wait_timeout = ',"
                    + " @@SESSION.wait_timeout)")
            .get(0);
    execute(
        connection,
        "SET SESSION innodb_lock_wait_timeout = "
            + lockSeconds
            + ", SESSION wait_timeout = "
            + silentSeconds);
    return restoring;
  }

  /** The next transaction's level, set to what it is, is refused while one is running. */
  @Override
  boolean isInTransaction(Connection connection) throws SQLException {
    String level =
        switch (connection.getTransactionIsolation()) {
          case Connection.TRANSACTION_READ_UNCOMMITTED -> "READ UNCOMMITTED";
          case Connection.TRANSACTION_READ_COMMITTED -> "READ COMMITTED";
          case Connection.TRANSACTION_SERIALIZABLE -> "SERIALIZABLE";
          default -> "REPEATABLE READ";
        };
    try {
      execute(connection, "SET TRANSACTION ISOLATION LEVEL " + level);
      return false;
    } catch (SQLException failure) {
      if (failure.getErrorCode() == TRANSACTION_RUNS
          || failure.getErrorCode() == DISTRIBUTED_TRANSACTION_RUNS) {
        return true;
      }
      throw failure;
    }
  }

  @Override
  String unfit() {
    return unfitIf("@@global.read_only");
  }

  /** Numbers up to MariaDB 11, and words from 12 on. */
  static String unfitIf(String readOnly) {
    return "SELECT 'it is read-only, as a replica is' FROM DUAL WHERE UPPER(CAST("
        + readOnly
        + " AS CHAR)) NOT IN ('0', 'OFF')";
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
        || cannotWrite(failure)
        || super.isCertain(failure);
  }

  @Override
  boolean isElsewhere(SQLException failure) {
    return cannotWrite(failure) || super.isElsewhere(failure);
  }

  private static boolean cannotWrite(SQLException failure) {
    int code = failure.getErrorCode();
    return code == SERVER_READ_ONLY
        || code == READ_ONLY_TRANSACTION
        || code == READ_ONLY_MODE
        || code == NOT_READY;
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
