package dev.lukko.postgres;

import dev.lukko.time.Scheduler;
import dev.lukko.time.Ticker;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.UUID;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** Opens sessions that are fit to hold locks, and refuses the others with the reason. */
final class SessionOpener {
  private static final String SETTINGS =
      """
      SELECT set_config('application_name', ?, false),
             set_config('lukko.session', ?, false),
             set_config('default_transaction_isolation', 'read committed', false),
             set_config('statement_timeout', ?, false),
             set_config('tcp_keepalives_idle', '10', false),
             set_config('tcp_keepalives_interval', '5', false),
             set_config('tcp_keepalives_count', '3', false)
      """;
  private static final String FACTS =
      """
      SELECT pg_is_in_recovery(),
             (SELECT setting::bigint FROM pg_settings WHERE name = 'statement_timeout'),
             coalesce((SELECT setting::bigint FROM pg_settings
                       WHERE name = 'idle_session_timeout'), 0),
             pg_backend_pid(), current_database()
      """;

  private final PgConnector connector;
  private final PostgresSchema schema;
  private final AdvisorySql sql;
  private final Duration timeout;
  private final String applicationName;
  private final Ticker ticker;
  private final PlatformCalls calls;
  private final Scheduler scheduler;
  private volatile boolean excludes;
  private volatile @Nullable String database;

  SessionOpener(
      PgConnector connector,
      PostgresSchema schema,
      Duration timeout,
      String applicationName,
      Ticker ticker,
      PlatformCalls calls,
      Scheduler scheduler) {
    this.connector = connector;
    this.schema = schema;
    this.sql = new AdvisorySql(schema.name());
    this.timeout = timeout;
    this.applicationName = applicationName;
    this.ticker = ticker;
    this.calls = calls;
    this.scheduler = scheduler;
  }

  /**
   * Opens a session.
   *
   * @param onEnd is called once when the session has ended other than by {@code close}
   * @throws SQLException if no connection could be opened
   * @throws UnsuitableDatabaseException if it could, but must not carry locks
   */
  AdvisorySession open(BiConsumer<? super AdvisorySession, ? super SQLException> onEnd)
      throws SQLException {
    Connection connection = connector.open();
    try {
      boolean pooled = PoolerCheck.refuseTransactionPooling(connection, connector);
      AdvisorySession.Opened opened = prepare(connection, pooled);
      try (Statement statement = connection.createStatement()) {
        schema.check(statement);
        statement.executeUpdate(sql.sweep);
      }
      if (!excludes) {
        excludes = ExclusionTest.passes(connection, connector);
      }
      // From here on the session's own guard bounds each statement.
      connection.setNetworkTimeout(Runnable::run, 0);
      return new AdvisorySession(connection, sql, opened, timeout, ticker, calls, scheduler, onEnd);
    } catch (SQLException | RuntimeException failure) {
      PgConnector.closeQuietly(connection);
      throw failure;
    }
  }

  /** The locks of one database say nothing about those of another. */
  private void refuseAnotherDatabase(String found) {
    String first = database;
    if (first == null) {
      database = found;
    } else if (!first.equals(found)) {
      throw new UnsuitableDatabaseException(
          "the connection leads to database "
              + found
              + ", and the first one of this client led to "
              + first
              + ": does the DataSource choose by the thread or the tenant? Give each database a"
              + " client of its own");
    }
  }

  private AdvisorySession.Opened prepare(Connection connection, boolean pooled)
      throws SQLException {
    String nonce = UUID.randomUUID().toString();
    long serverLimitMillis;
    Duration idleLimit;
    int pid;
    try (Statement statement = connection.createStatement();
        ResultSet facts = statement.executeQuery(FACTS)) {
      facts.next();
      if (facts.getBoolean(1)) {
        throw new UnsuitableDatabaseException(
            "the server is a standby in recovery: a lock on it excludes nobody who uses the"
                + " primary, and it gives no fencing tokens; connect to the primary");
      }
      serverLimitMillis = facts.getLong(2);
      idleLimit = Duration.ofMillis(facts.getLong(3));
      pid = facts.getInt(4);
      refuseAnotherDatabase(facts.getString(5));
    }
    // Below the timeout of the socket, so that a slow statement ends with an error of the server
    // on a session that lives, and not with a broken connection.
    long ours = Math.max(1, timeout.toMillis() * 3 / 4);
    long effective = serverLimitMillis == 0 ? ours : Math.min(serverLimitMillis, ours);
    try (PreparedStatement settings = connection.prepareStatement(SETTINGS)) {
      settings.setString(1, applicationName);
      settings.setString(2, nonce);
      settings.setString(3, effective + "ms");
      settings.executeQuery().close();
    }
    return new AdvisorySession.Opened(pid, nonce, idleLimit, pooled);
  }
}
