package dev.lukko.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;

/** PostgreSQL. */
final class PostgresTraits extends DialectTraits {
  static final DialectTraits INSTANCE = new PostgresTraits();
  private static final int FIRST_USER_OBJECT = 16_384;
  private static final String IN_FAILED_TRANSACTION = "25P02";

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
          ttl bigint NOT NULL DEFAULT 0,
          shared_until bigint NOT NULL DEFAULT 0,
          counter bigint NOT NULL,
          grant_counter bigint NOT NULL
        ) WITH (fillfactor = 60)""",
        """
        CREATE TABLE IF NOT EXISTS lukko_shared (
          name varchar(255) COLLATE "C" NOT NULL,
          owner varchar(255) COLLATE "C" NOT NULL,
          expires_at bigint NOT NULL,
          ttl bigint NOT NULL DEFAULT 0,
          grant_counter bigint NOT NULL,
          PRIMARY KEY (name, owner)
        )""",
        """
        CREATE TABLE IF NOT EXISTS lukko_fleet (
          name varchar(255) COLLATE "C" PRIMARY KEY,
          record text COLLATE "C" NOT NULL,
          seen text COLLATE "C" NOT NULL,
          run varchar(64) COLLATE "C" NOT NULL,
          votes_from bigint NOT NULL
        )""",
        "INSERT INTO lukko_schema (component, version, identity) VALUES ('lock', "
            + JdbcSchema.VERSION
            + ", md5(random()::text || clock_timestamp() || random())) ON CONFLICT DO NOTHING");
  }

  /** A mode that writers of rows wait for, and one that was begun keeps it waiting. */
  @Override
  String lockRecords() {
    return "LOCK TABLE lukko_lock IN SHARE ROW EXCLUSIVE MODE";
  }

  @Override
  String where() {
    return "'database ' || current_database() || ', schema '"
        + " || coalesce(current_schema(), 'none')";
  }

  /** A physical replica has the identifier of its primary, a restored copy of the data has not. */
  @Override
  String server(Connection connection) {
    try {
      List<String> found =
          texts(connection, "SELECT system_identifier::text FROM pg_control_system()");
      return found.get(0);
    } catch (SQLException notAllowed) {
      return ""; // Where the right was taken away, and in databases that resemble PostgreSQL.
    }
  }

  @Override
  String prepare(Connection connection, long requestTimeoutMillis, long idleMillis)
      throws SQLException {
    String restoring =
        String.join(
            "; ",
            texts(
                connection,
                "SELECT CASE WHEN setting = reset_val THEN 'RESET ' || name"
                    + " ELSE 'SET ' || name || ' = ' || setting END FROM pg_settings"
                    + " WHERE name IN ('statement_timeout', 'idle_in_transaction_session_timeout')"));
    execute(connection, limits("SET ", requestTimeoutMillis));
    return restoring;
  }

  /** The server gives up first, so that a slow statement ends with a certain answer. */
  private static String limits(String set, long requestTimeoutMillis) {
    return set
        + "statement_timeout = "
        + Math.max(1, requestTimeoutMillis * 4 / 5)
        + "; "
        + set
        + "idle_in_transaction_session_timeout = "
        + requestTimeoutMillis;
  }

  @Override
  String prepareTransaction(long requestTimeoutMillis) {
    return "SET TRANSACTION ISOLATION LEVEL READ COMMITTED; "
        + limits("SET LOCAL ", requestTimeoutMillis);
  }

  /** A pooler gives its own number for the process at the server. */
  @Override
  boolean isBehindPooler(Connection connection) throws SQLException {
    try {
      return connection.isWrapperFor(PGConnection.class)
          && connection.unwrap(PGConnection.class).getBackendPID()
              != number(connection, "SELECT pg_backend_pid()");
    } catch (NoClassDefFoundError otherDriver) {
      return false;
    }
  }

  /**
   * Written rows and row locks give the transaction a number; tables of the user's that it has
   * read, and advisory locks, stay locked until it ends.
   */
  @Override
  boolean isInTransaction(Connection connection) throws SQLException {
    try {
      return !texts(
              connection,
              "SELECT 'yes' WHERE txid_current_if_assigned() IS NOT NULL OR EXISTS (SELECT 1"
                  + " FROM pg_locks WHERE pid = pg_backend_pid() AND (locktype = 'advisory'"
                  + " OR (locktype = 'relation' AND relation >= "
                  + FIRST_USER_OBJECT
                  + ")))")
          .isEmpty();
    } catch (SQLException failure) {
      if (IN_FAILED_TRANSACTION.equals(failure.getSQLState())) {
        return true;
      }
      throw failure;
    }
  }

  @Override
  String unfit() {
    return "SELECT CASE WHEN pg_is_in_recovery() THEN 'it is a replica'"
        + " ELSE 'its sessions are read-only' END"
        + " WHERE pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on'";
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
