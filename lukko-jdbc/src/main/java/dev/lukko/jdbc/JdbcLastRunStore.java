package dev.lukko.jdbc;

import dev.lukko.LockException;
import dev.lukko.fencing.FenceArguments;
import dev.lukko.schedule.JobRun;
import dev.lukko.schedule.JobRun.Outcome;
import dev.lukko.schedule.LastRunStore;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the last runs of jobs, and their history, in the tables {@code lukko_job} and {@code
 * lukko_job_run} of a PostgreSQL, MySQL, MariaDB, H2 or SQLite database, by the database's clock.
 *
 * <p>Each call is one short transaction of its own on a connection of the given DataSource, which
 * may pool; it goes back as it came. Every isolation level is right. A statement is given up after
 * 10 s, by the server, or after 15 s by dropping the connection; how long it takes to get one is
 * the DataSource's to bound. Thread-safe.
 */
public final class JdbcLastRunStore implements LastRunStore {
  private static final int MAX_RUNNER = 255;
  private static final int MAX_ERROR = 2_000;
  private static final int ATTEMPTS = 20;

  private final DataSource database;

  private JdbcLastRunStore(DataSource database) {
    this.database = Objects.requireNonNull(database, "database");
  }

  /** A store in the tables that the connections of this source lead to. */
  public static JdbcLastRunStore over(DataSource database) {
    return new JdbcLastRunStore(database);
  }

  /** The statements that create the tables where they do not exist. */
  public static List<String> ddl(Dialect dialect) {
    return RunSql.createTables(dialect);
  }

  /**
   * Creates the tables where they do not exist.
   *
   * @throws IllegalStateException if the data source hands out a connection with a transaction in
   *     it, which this would commit
   */
  public void createTables() throws SQLException {
    OwnTransactions.run(
        database,
        "the creation of tables",
        "",
        (connection, dialect) -> {
          for (String sql : ddl(dialect)) {
            DialectTraits.execute(connection, sql);
          }
          return true;
        });
  }

  @Override
  public Instant now() {
    return call("the clock", sql -> instant(sql.nowMicros()));
  }

  @Override
  public Decision begin(
      String job, Instant tick, long fencingToken, String runner, Set<Outcome> rerunAfter) {
    FenceArguments.name("job", job);
    long micros = micros(tick);
    return transaction(
        job,
        sql -> {
          RunSql.Last last = sql.lock(job);
          if (last == null) {
            sql.insertLast(job, micros, fencingToken);
          } else {
            if (last.is(micros, fencingToken) && last.outcome() == Outcome.RUNNING) {
              return Decision.BEGUN;
            }
            boolean same = last.tick() == micros;
            if (last.tick() > micros || (same && !rerunAfter.contains(last.outcome()))) {
              return Decision.HAD_ITS_RUN;
            }
            if (last.token() >= fencingToken) {
              return Decision.STALE_TOKEN;
            }
            sql.updateLast(job, micros, fencingToken);
            sql.abandon(job, last);
          }
          sql.insertRun(job, micros, fencingToken, JobRun.storable(runner, MAX_RUNNER));
          return Decision.BEGUN;
        });
  }

  @Override
  public boolean finish(
      String job, Instant tick, long fencingToken, Outcome outcome, Optional<String> error) {
    FenceArguments.name("job", job);
    long micros = micros(tick);
    String stored = error.map(text -> JobRun.storable(text, MAX_ERROR)).orElse(null);
    return transaction(
        job,
        sql -> {
          RunSql.Last last = sql.lock(job);
          boolean isLast = last != null && last.is(micros, fencingToken);
          if (isLast) {
            sql.finishLast(job, outcome);
          }
          sql.finishRun(job, micros, fencingToken, outcome, stored);
          return isLast;
        });
  }

  @Override
  public List<JobRun> history(String job, int limit) {
    FenceArguments.name("job", job);
    if (limit < 1) {
      throw new IllegalArgumentException("limit is " + limit + "; it must be at least 1");
    }
    return call(job, sql -> sql.history(job, limit));
  }

  @Override
  public void prune(String job, Instant before) {
    FenceArguments.name("job", job);
    long micros = micros(before);
    call(job, sql -> sql.prune(job, micros));
  }

  @FunctionalInterface
  private interface Step<T> {
    T on(RunSql sql) throws SQLException;
  }

  /** Runs a step in a transaction that has the job's row locked, and again if it lost a race. */
  private <T> T transaction(String job, Step<T> step) {
    return call(
        job,
        sql -> {
          for (int attempt = 1; ; attempt++) {
            try {
              sql.begin();
              T result = step.on(sql);
              sql.commit();
              return result;
            } catch (SQLException failure) {
              sql.rollback(failure);
              if (attempt == ATTEMPTS || !sql.lostARace(failure)) {
                throw failure;
              }
            } catch (RuntimeException | Error failure) {
              sql.rollback(failure);
              throw failure;
            }
          }
        });
  }

  private <T> T call(String what, Step<T> step) {
    try {
      return Objects.requireNonNull(
          OwnTransactions.<T, SQLException>run(
              database,
              "a store of last runs",
              "",
              (connection, dialect) -> bounded(connection, dialect, step)));
    } catch (SQLException failure) {
      throw new LockException(
          "the database refused the last runs of " + what + ": " + failure.getMessage(), failure);
    }
  }

  private static <T> T bounded(Connection connection, Dialect dialect, Step<T> step)
      throws SQLException {
    NetworkLimit limit = NetworkLimit.set(connection);
    try {
      return step.on(new RunSql(connection, dialect));
    } finally {
      limit.restore();
    }
  }

  private static long micros(Instant instant) {
    return ChronoUnit.MICROS.between(Instant.EPOCH, instant);
  }

  static Instant instant(long micros) {
    return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
  }

  /** A bound on each wait for the network, where the driver has one. */
  private record NetworkLimit(Connection connection, @Nullable Integer before) {
    private static final System.Logger LOG = System.getLogger(JdbcLastRunStore.class.getName());
    private static final int MILLIS = 15_000;

    static NetworkLimit set(Connection connection) {
      try {
        int before = connection.getNetworkTimeout();
        connection.setNetworkTimeout(Runnable::run, MILLIS);
        return new NetworkLimit(connection, before);
      } catch (SQLException | AbstractMethodError | UnsupportedOperationException unsupported) {
        LOG.log(System.Logger.Level.DEBUG, "the driver has no network timeout", unsupported);
        return new NetworkLimit(connection, null);
      }
    }

    void restore() {
      try {
        if (before != null && !connection.isClosed()) {
          connection.setNetworkTimeout(Runnable::run, before);
        }
      } catch (SQLException broken) {
        LOG.log(System.Logger.Level.DEBUG, "a connection was not put back as it was", broken);
      }
    }
  }
}
