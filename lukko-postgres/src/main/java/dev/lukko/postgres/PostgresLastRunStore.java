package dev.lukko.postgres;

import dev.lukko.schedule.JobRun;
import dev.lukko.schedule.JobRun.Outcome;
import dev.lukko.schedule.LastRunStore;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the last runs of jobs, and their history, in the tables {@code job} and {@code job_run}, by
 * the database's clock. Each call is one short transaction on a connection of the given DataSource,
 * which may pool, and which gets it back as it came; one that comes with a transaction open is
 * refused. A statement is given up after 10 s, by the server, or after 15 s by dropping the
 * connection; how long it takes to get one is the DataSource's to bound. Thread-safe.
 */
public final class PostgresLastRunStore implements LastRunStore {
  private static final int STATEMENT_SECONDS = 10;
  private static final String NOW = QueueCalls.alone("SELECT clock_timestamp()");

  private final SchemaConnections connections;
  private final RunSql sql;

  private PostgresLastRunStore(DataSource dataSource, PostgresSchema schema) {
    this.connections =
        new SchemaConnections(Objects.requireNonNull(dataSource, "dataSource"), schema, null);
    this.sql = new RunSql(schema.name());
  }

  /** A store in the schema {@value PostgresSchema#DEFAULT_NAME}. */
  public static PostgresLastRunStore over(DataSource dataSource) {
    return over(dataSource, PostgresSchema.standard());
  }

  /** A store in another schema. */
  public static PostgresLastRunStore over(DataSource dataSource, PostgresSchema schema) {
    return new PostgresLastRunStore(dataSource, schema);
  }

  @Override
  public Instant now() {
    return call(
        NOW,
        statement -> {
          try (ResultSet result = QueueCalls.rows(statement)) {
            result.next();
            return instant(result.getObject(1, OffsetDateTime.class));
          }
        });
  }

  @Override
  public Decision begin(
      String job, Instant tick, long fencingToken, String runner, Set<Outcome> rerunAfter) {
    return call(
        sql.begin,
        statement -> {
          statement.setString(1, job);
          statement.setObject(2, at(tick));
          statement.setLong(3, fencingToken);
          statement.setString(4, runner);
          statement.setArray(
              5,
              statement
                  .getConnection()
                  .createArrayOf("text", rerunAfter.stream().map(Outcome::name).toArray()));
          try (ResultSet result = QueueCalls.rows(statement)) {
            if (result.next()) {
              return Decision.BEGUN;
            }
          }
          return refusal(statement.getConnection(), job, tick, rerunAfter);
        });
  }

  private Decision refusal(Connection connection, String job, Instant tick, Set<Outcome> rerunAfter)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql.last)) {
      statement.setQueryTimeout(STATEMENT_SECONDS);
      statement.setString(1, job);
      try (ResultSet row = statement.executeQuery()) {
        if (!row.next()) {
          return Decision.STALE_TOKEN; // It was there, and somebody has deleted it since.
        }
        int compared = instant(row.getObject(1, OffsetDateTime.class)).compareTo(tick);
        boolean ran = compared > 0 || (compared == 0 && !rerunAfter.contains(outcome(row, 2)));
        return ran ? Decision.HAD_ITS_RUN : Decision.STALE_TOKEN;
      }
    }
  }

  @Override
  public boolean finish(
      String job, Instant tick, long fencingToken, Outcome outcome, Optional<String> error) {
    return call(
        sql.finish,
        statement -> {
          statement.setString(1, outcome.name());
          statement.setString(2, error.map(QueueCalls::storable).orElse(null));
          statement.setString(3, job);
          statement.setObject(4, at(tick));
          statement.setLong(5, fencingToken);
          try (ResultSet result = QueueCalls.rows(statement)) {
            return result.next() && result.getBoolean(1);
          }
        });
  }

  @Override
  public List<JobRun> history(String job, int limit) {
    return call(
        sql.history,
        statement -> {
          statement.setString(1, job);
          statement.setInt(2, limit);
          try (ResultSet row = QueueCalls.rows(statement)) {
            List<JobRun> runs = new ArrayList<>();
            while (row.next()) {
              runs.add(read(row));
            }
            return runs;
          }
        });
  }

  @Override
  public void prune(String job, Instant before) {
    call(
        sql.prune,
        statement -> {
          statement.setString(1, job);
          statement.setObject(2, at(before));
          return QueueCalls.changed(statement);
        });
  }

  @FunctionalInterface
  private interface Call<T> {
    T on(PreparedStatement statement) throws SQLException;
  }

  private <T> T call(String text, Call<T> call) {
    return connections.call(
        connection -> {
          try (PreparedStatement statement = connection.prepareStatement(text)) {
            statement.setQueryTimeout(STATEMENT_SECONDS);
            return call.on(statement);
          }
        });
  }

  private static JobRun read(ResultSet row) throws SQLException {
    return new JobRun(
        row.getString(1),
        instant(row.getObject(2, OffsetDateTime.class)),
        row.getLong(3),
        row.getString(4),
        instant(row.getObject(5, OffsetDateTime.class)),
        Optional.ofNullable(row.getObject(6, OffsetDateTime.class))
            .map(PostgresLastRunStore::instant),
        outcome(row, 7),
        Optional.ofNullable(row.getString(8)));
  }

  private static Outcome outcome(ResultSet row, int column) throws SQLException {
    return Outcome.named(row.getString(column))
        .orElseThrow(
            () ->
                new SQLException(
                    "column outcome holds garbage: it is no outcome of a run", "22000"));
  }

  private static OffsetDateTime at(Instant instant) {
    return instant.atOffset(ZoneOffset.UTC);
  }

  private static Instant instant(@Nullable OffsetDateTime time) {
    return Objects.requireNonNull(time, "timestamp").toInstant();
  }
}
