package dev.lukko.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** PostgreSQL. */
final class PostgresTraits extends DialectTraits {
  static final DialectTraits INSTANCE = new PostgresTraits();

  @Override
  String now() {
    // A double is exact to the microsecond until 2112, and faster than extract()'s numeric.
    return "CAST(date_part('epoch', clock_timestamp()) * 1000000 AS bigint)";
  }

  @Override
  boolean isPostgres() {
    return true;
  }

  @Override
  List<String> schema() {
    // Free space on the pages keeps updates in place; no other index may point to what they change.
    return List.of(
        """
        CREATE TABLE IF NOT EXISTS lukko_schema (
          component varchar(32) PRIMARY KEY,
          version integer NOT NULL,
          identity varchar(64) NOT NULL
        )""",
        """
        CREATE TABLE IF NOT EXISTS lukko_lock (
          name varchar(255) COLLATE "C" PRIMARY KEY,
          owner varchar(255) COLLATE "C",
          expires_at bigint NOT NULL,
          shared_until bigint NOT NULL DEFAULT 0,
          counter bigint NOT NULL,
          grant_counter bigint NOT NULL
        ) WITH (fillfactor = 60)""",
        """
        CREATE TABLE IF NOT EXISTS lukko_shared (
          name varchar(255) COLLATE "C" NOT NULL,
          owner varchar(255) COLLATE "C" NOT NULL,
          expires_at bigint NOT NULL,
          grant_counter bigint NOT NULL,
          PRIMARY KEY (name, owner)
        )""",
        "INSERT INTO lukko_schema (component, version, identity) VALUES ('lock', "
            + JdbcSchema.VERSION
            + ", md5(random()::text || clock_timestamp() || random())) ON CONFLICT DO NOTHING");
  }

  @Override
  String prepare(Connection connection, long requestTimeoutMillis, long idleMillis)
      throws SQLException {
    // The server gives up first, so that a slow statement ends with a certain answer.
    long statementMillis = Math.max(1, requestTimeoutMillis * 4 / 5);
    execute(
        connection,
        "SET statement_timeout = "
            + statementMillis
            + "; SET idle_in_transaction_session_timeout = "
            + requestTimeoutMillis);
    return "RESET statement_timeout; RESET idle_in_transaction_session_timeout";
  }

  @Override
  String unfit() {
    return "SELECT 'it is a replica' WHERE pg_is_in_recovery()";
  }

  @Override
  String warnings() {
    return """
        SELECT name || ' is off: a crash of the server forgets the latest grants'
        FROM pg_settings
        WHERE name IN ('fsync', 'synchronous_commit', 'full_page_writes') AND setting = 'off'
        ORDER BY name""";
  }

  @Override
  boolean isConflict(SQLException failure) {
    return "40001".equals(failure.getSQLState()) || "40P01".equals(failure.getSQLState());
  }

  @Override
  boolean isMissingTable(SQLException failure) {
    return "42P01".equals(failure.getSQLState());
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
