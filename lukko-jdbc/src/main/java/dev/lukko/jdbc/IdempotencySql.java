package dev.lukko.jdbc;

import dev.lukko.fencing.RequestFingerprint;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The statements of the table of idempotency keys.
 *
 * <p>The claim is the insert of the key: a second insert waits for the first one's transaction,
 * then finds the key, or takes its place if that was rolled back. On MySQL a repeated insert counts
 * itself in the row, for two reasons: the count of rows tells it from a first one, and it takes the
 * row's lock at once for writing, so that two that wait do not end in a deadlock.
 */
final class IdempotencySql {
  private final Dialect dialect;
  private final String table;

  IdempotencySql(Dialect dialect, String table) {
    this.dialect = dialect;
    this.table = table;
  }

  /**
   * What is stored for a key.
   *
   * @param done false only within the transaction that is running the work
   */
  record Stored(
      RequestFingerprint fingerprint, boolean done, boolean expired, @Nullable String result) {}

  static List<String> createTable(Dialect dialect, String table) {
    String text =
        switch (dialect) {
          case POSTGRES, SQLITE -> "TEXT";
          case MYSQL -> "LONGTEXT CHARACTER SET utf8mb4";
          case H2 -> "CHARACTER LARGE OBJECT";
        };
    String index = table.substring(table.indexOf('.') + 1) + "_expires_at";
    String columns =
        "CREATE TABLE IF NOT EXISTS "
            + table
            + " (\n  idempotency_key "
            + Dialects.nameColumn(dialect)
            + " NOT NULL PRIMARY KEY,\n  fingerprint CHAR(64) NOT NULL,\n"
            + "  done SMALLINT NOT NULL,\n  result "
            + text
            + ",\n  expires_at BIGINT NOT NULL";
    // MySQL creates no index if it is missing, but takes it as a part of the table.
    return dialect == Dialect.MYSQL
        ? List.of(
            columns
                + ",\n  repeats BIGINT NOT NULL DEFAULT 0,\n  INDEX "
                + index
                + " (expires_at)\n) ENGINE = InnoDB")
        : List.of(
            columns + "\n)",
            "CREATE INDEX IF NOT EXISTS " + index + " ON " + table + " (expires_at)");
  }

  /** Inserts the key; false if it was there already. */
  boolean claim(
      Connection connection, String key, RequestFingerprint fingerprint, long retentionMillis)
      throws SQLException {
    String sql =
        "INSERT INTO "
            + table
            + " (idempotency_key, fingerprint, done, expires_at) VALUES (?, ?, 0, "
            + Dialects.nowMillis(dialect)
            + " + ?)"
            + switch (dialect) {
              case POSTGRES, SQLITE -> " ON CONFLICT (idempotency_key) DO NOTHING";
              case MYSQL -> " ON DUPLICATE KEY UPDATE repeats = repeats + 1";
              case H2 -> "";
            };
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      Dialects.bindName(dialect, statement, 1, key);
      statement.setString(2, fingerprint.value());
      statement.setLong(3, retentionMillis);
      return statement.executeUpdate() == 1;
    } catch (SQLException failed) {
      if (dialect == Dialect.H2 && SqlStates.isDuplicate(failed)) {
        return false;
      }
      throw failed;
    }
  }

  /** What is stored for the key, or null. */
  @Nullable Stored find(Connection connection, String key, boolean current) throws SQLException {
    String sql =
        "SELECT fingerprint, done, result, CASE WHEN expires_at < "
            + Dialects.nowMillis(dialect)
            + " THEN 1 ELSE 0 END FROM "
            + table
            + " WHERE idempotency_key = ?"
            + (current ? Dialects.currentRead(dialect) : "");
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      Dialects.bindName(dialect, statement, 1, key);
      try (ResultSet row = statement.executeQuery()) {
        return row.next()
            ? new Stored(
                new RequestFingerprint(row.getString(1)),
                row.getInt(2) == 1,
                row.getInt(4) == 1,
                row.getString(3))
            : null;
      }
    }
  }

  void store(Connection connection, String key, @Nullable String result, long retentionMillis)
      throws SQLException {
    String sql =
        "UPDATE "
            + table
            + " SET done = 1, result = ?, expires_at = "
            + Dialects.nowMillis(dialect)
            + " + ? WHERE idempotency_key = ? AND done = 0";
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setString(1, result);
      statement.setLong(2, retentionMillis);
      Dialects.bindName(dialect, statement, 3, key);
      if (statement.executeUpdate() != 1) {
        throw new IllegalStateException(
            "the claim of idempotency key \""
                + key
                + "\" is gone: the work has ended the transaction that it was to leave open");
      }
    }
  }

  /** Deletes the key if its retention is over. */
  void deleteExpired(Connection connection, String key) throws SQLException {
    String sql =
        "DELETE FROM "
            + table
            + " WHERE idempotency_key = ? AND done = 1 AND expires_at < "
            + Dialects.nowMillis(dialect);
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      Dialects.bindName(dialect, statement, 1, key);
      statement.executeUpdate();
    }
  }
}
