package dev.lukko.jdbc;

import dev.lukko.schedule.JobRun;
import dev.lukko.schedule.JobRun.Outcome;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The statements of the last runs, on one connection. The one row of a job in {@code lukko_job}
 * decides, under its lock; {@code lukko_job_run} is the history. Times are microseconds since 1970.
 */
final class RunSql {
  private static final int STATEMENT_SECONDS = 10;

  private final Connection connection;
  private final Dialect dialect;
  private final DialectTraits traits;

  RunSql(Connection connection, Dialect dialect) {
    this.connection = connection;
    this.dialect = dialect;
    this.traits = dialect.traits();
  }

  /** The last run of a job. */
  record Last(long tick, long token, Outcome outcome) {
    boolean is(long otherTick, long otherToken) {
      return tick == otherTick && token == otherToken;
    }
  }

  static List<String> createTables(Dialect dialect) {
    String name = Dialects.nameColumn(dialect);
    String text =
        switch (dialect) {
          case POSTGRES, SQLITE -> "TEXT";
          case MYSQL -> "TEXT CHARACTER SET utf8mb4";
          case H2 -> "CHARACTER VARYING";
        };
    String end = dialect == Dialect.MYSQL ? "\n) ENGINE = InnoDB" : "\n)";
    return List.of(
        "CREATE TABLE IF NOT EXISTS lukko_job (\n  job "
            + name
            + " NOT NULL PRIMARY KEY,\n  tick BIGINT NOT NULL,\n  token BIGINT NOT NULL,\n"
            + "  outcome VARCHAR(16) NOT NULL"
            + end,
        "CREATE TABLE IF NOT EXISTS lukko_job_run (\n  job "
            + name
            + " NOT NULL,\n  tick BIGINT NOT NULL,\n  token BIGINT NOT NULL,\n  runner "
            + text
            + " NOT NULL,\n  started_at BIGINT NOT NULL,\n  finished_at BIGINT,\n"
            + "  outcome VARCHAR(16) NOT NULL,\n  error "
            + text
            + ",\n  PRIMARY KEY (job, tick, token)"
            + end);
  }

  void begin() throws SQLException {
    traits.begin(connection);
  }

  void commit() throws SQLException {
    traits.commit(connection);
  }

  void rollback(Throwable failure) {
    try {
      traits.rollback(connection);
    } catch (SQLException worse) {
      failure.addSuppressed(worse); // The connection is gone, and its transaction with it.
    }
  }

  /** Whether the same transaction may do better the next time: another one came first. */
  boolean lostARace(SQLException failure) {
    return traits.isConflict(failure) || traits.isDuplicate(failure);
  }

  long nowMicros() throws SQLException {
    return DialectTraits.number(connection, "SELECT " + traits.now());
  }

  @Nullable Last lock(String job) throws SQLException {
    try (PreparedStatement statement =
        prepare(
            "SELECT tick, token, outcome FROM lukko_job WHERE job = ?" + traits.forUpdate(), job)) {
      try (ResultSet row = statement.executeQuery()) {
        return row.next()
            ? new Last(number(row, "tick"), number(row, "token"), outcome(row))
            : null;
      }
    }
  }

  void insertLast(String job, long tick, long token) throws SQLException {
    update(
        "INSERT INTO lukko_job (job, tick, token, outcome) VALUES (?, ?, ?, 'RUNNING')",
        job,
        tick,
        token);
  }

  void updateLast(String job, long tick, long token) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            "UPDATE lukko_job SET tick = ?, token = ?, outcome = 'RUNNING' WHERE job = ?")) {
      statement.setQueryTimeout(STATEMENT_SECONDS);
      statement.setLong(1, tick);
      statement.setLong(2, token);
      Dialects.bindName(dialect, statement, 3, job);
      statement.executeUpdate();
    }
  }

  void finishLast(String job, Outcome outcome) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement("UPDATE lukko_job SET outcome = ? WHERE job = ?")) {
      statement.setQueryTimeout(STATEMENT_SECONDS);
      statement.setString(1, outcome.name());
      Dialects.bindName(dialect, statement, 2, job);
      statement.executeUpdate();
    }
  }

  /** Says of a run that it was overtaken, if it has not said itself how it ended. */
  void abandon(String job, Last last) throws SQLException {
    update(
        "UPDATE lukko_job_run SET outcome = 'ABANDONED', finished_at = "
            + traits.now()
            + " WHERE job = ? AND tick = ? AND token = ? AND outcome = 'RUNNING'",
        job,
        last.tick(),
        last.token());
  }

  void insertRun(String job, long tick, long token, String runner) throws SQLException {
    update(
        "INSERT INTO lukko_job_run (job, tick, token, runner, started_at, outcome)"
            + " VALUES (?, ?, ?, ?, "
            + traits.now()
            + ", 'RUNNING')",
        job,
        tick,
        token,
        runner);
  }

  void finishRun(String job, long tick, long token, Outcome outcome, @Nullable String error)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            "UPDATE lukko_job_run SET outcome = ?, error = ?, finished_at = "
                + traits.now()
                + " WHERE job = ? AND tick = ? AND token = ?")) {
      statement.setQueryTimeout(STATEMENT_SECONDS);
      statement.setString(1, outcome.name());
      statement.setString(2, error);
      Dialects.bindName(dialect, statement, 3, job);
      statement.setLong(4, tick);
      statement.setLong(5, token);
      statement.executeUpdate();
    }
  }

  List<JobRun> history(String job, int limit) throws SQLException {
    List<JobRun> runs = new ArrayList<>();
    try (PreparedStatement statement =
        prepare(
            "SELECT tick, token, runner, started_at, finished_at, outcome, error"
                + " FROM lukko_job_run WHERE job = ? ORDER BY tick DESC, token DESC LIMIT "
                + limit,
            job)) {
      try (ResultSet row = statement.executeQuery()) {
        while (row.next()) {
          Optional<Instant> finishedAt =
              row.getString("finished_at") == null
                  ? Optional.empty()
                  : Optional.of(instant(row, "finished_at"));
          runs.add(
              new JobRun(
                  job,
                  instant(row, "tick"),
                  number(row, "token"),
                  String.valueOf(row.getString("runner")),
                  instant(row, "started_at"),
                  finishedAt,
                  outcome(row),
                  Optional.ofNullable(row.getString("error"))));
        }
      }
    }
    return runs;
  }

  /** A number as it is stored: what another program wrote there may be none. */
  private static long number(ResultSet row, String column) throws SQLException {
    String stored = String.valueOf(row.getString(column));
    try {
      return Long.parseLong(stored);
    } catch (NumberFormatException garbage) {
      throw new SQLException("column " + column + " holds garbage: it is no number", "22000");
    }
  }

  private static Instant instant(ResultSet row, String column) throws SQLException {
    return JdbcLastRunStore.instant(number(row, column));
  }

  private static Outcome outcome(ResultSet row) throws SQLException {
    return Outcome.named(row.getString("outcome"))
        .orElseThrow(
            () ->
                new SQLException(
                    "column outcome holds garbage: it is no outcome of a run", "22000"));
  }

  /** Deletes runs for earlier ticks, all but the last run; how many. */
  int prune(String job, long before) throws SQLException {
    try (PreparedStatement statement =
        prepare(
            "DELETE FROM lukko_job_run WHERE job = ? AND tick < ? AND tick <"
                + " (SELECT j.tick FROM lukko_job j WHERE j.job = lukko_job_run.job)",
            job)) {
      statement.setLong(2, before);
      return statement.executeUpdate();
    }
  }

  private PreparedStatement prepare(String sql, String job) throws SQLException {
    PreparedStatement statement = connection.prepareStatement(sql);
    try {
      statement.setQueryTimeout(STATEMENT_SECONDS);
      Dialects.bindName(dialect, statement, 1, job);
      return statement;
    } catch (SQLException | RuntimeException failure) {
      statement.close();
      throw failure;
    }
  }

  private void update(String sql, String job, Object... rest) throws SQLException {
    try (PreparedStatement statement = prepare(sql, job)) {
      for (int i = 0; i < rest.length; i++) {
        statement.setObject(i + 2, rest[i]);
      }
      statement.executeUpdate();
    }
  }
}
