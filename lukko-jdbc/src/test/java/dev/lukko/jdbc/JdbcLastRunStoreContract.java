package dev.lukko.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lukko.LockException;
import dev.lukko.schedule.JobRun.Outcome;
import dev.lukko.schedule.LastRunStore;
import dev.lukko.schedule.LastRunStore.Decision;
import dev.lukko.testkit.LastRunStoreContract;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** The store of last runs on one kind of database. */
abstract class JdbcLastRunStoreContract extends LastRunStoreContract {
  private static final Instant TICK = Instant.parse("2026-01-31T03:00:00Z");

  private final Dialect dialect;

  JdbcLastRunStoreContract(Dialect dialect) {
    this.dialect = dialect;
  }

  private DataSource database() {
    return switch (dialect) {
      case POSTGRES -> Databases.postgresSource();
      case MYSQL -> Databases.mariaDbSource();
      case H2 -> EmptyDatabases.create(Dialect.H2);
      case SQLITE -> Databases.sqlite().source(); // It waits while another writes.
    };
  }

  @Override
  protected LastRunStore emptyStore() throws SQLException {
    JdbcLastRunStore store = JdbcLastRunStore.over(database());
    store.createTables();
    store.createTables();
    return store;
  }

  /** A pool whose connections come at this isolation level, with autocommit off. */
  private static DataSource at(int isolation, DataSource database) {
    return new DelegatingDataSource(database) {
      @Override
      public Connection getConnection() throws SQLException {
        Connection connection = super.getConnection();
        connection.setTransactionIsolation(isolation);
        connection.setAutoCommit(false);
        return connection;
      }
    };
  }

  @Test
  void oneOfManyBeginsAtEveryIsolationLevel() throws Exception {
    DataSource database = database();
    JdbcLastRunStore.over(database).createTables();
    int[] levels =
        dialect == Dialect.SQLITE
            ? new int[] {Connection.TRANSACTION_SERIALIZABLE}
            : new int[] {
              Connection.TRANSACTION_READ_UNCOMMITTED,
              Connection.TRANSACTION_READ_COMMITTED,
              Connection.TRANSACTION_REPEATABLE_READ,
              Connection.TRANSACTION_SERIALIZABLE
            };
    ExecutorService pool = Executors.newFixedThreadPool(4);
    try {
      for (int level : levels) {
        LastRunStore store = JdbcLastRunStore.over(at(level, database));
        for (int i = 0; i < 5; i++) {
          Instant tick = TICK.plusSeconds(i);
          List<Future<Decision>> decisions = new ArrayList<>();
          for (int racer = 0; racer < 4; racer++) {
            long token = 10L * i + racer + 1;
            decisions.add(
                pool.submit(() -> store.begin("job-" + level, tick, token, "racer", Set.of())));
          }
          int begun = 0;
          for (Future<Decision> decision : decisions) {
            begun += decision.get(60, TimeUnit.SECONDS) == Decision.BEGUN ? 1 : 0;
          }
          assertThat(begun).as("level %s, tick %s", level, i).isEqualTo(1);
        }
      }
    } finally {
      pool.shutdownNow();
    }
  }

  @Test
  void runsAreKeptForTheNextProcess() throws Exception {
    DataSource database = database();
    JdbcLastRunStore.over(database).createTables();
    JdbcLastRunStore.over(database).begin("job", TICK, 5, "one", Set.of());
    LastRunStore next = JdbcLastRunStore.over(database);
    assertThat(next.begin("job", TICK, 6, "two", Set.of())).isEqualTo(Decision.HAD_ITS_RUN);
    assertThat(next.begin("JOB", TICK, 1, "two", Set.of())).isEqualTo(Decision.BEGUN);
    assertThat(next.history("job", 9))
        .singleElement()
        .matches(run -> run.outcome() == Outcome.RUNNING);
  }

  @Test
  void rowThatNobodyWroteIsAnErrorOfItsJobAlone() throws Exception {
    DataSource database = database();
    LastRunStore store = JdbcLastRunStore.over(database);
    JdbcLastRunStore.over(database).createTables();
    for (String job : List.of("nightly", "hourly")) {
      store.begin(job, TICK, 5, "one", Set.of());
    }
    try (Connection connection = database.getConnection()) {
      for (String table : List.of("lukko_job", "lukko_job_run")) {
        try (PreparedStatement statement =
            connection.prepareStatement(
                "UPDATE " + table + " SET outcome = 'DONE' WHERE job = ?")) {
          Dialects.bindName(dialect, statement, 1, "nightly");
          assertThat(statement.executeUpdate()).isEqualTo(1);
        }
      }
    }

    for (int i = 0; i < 3; i++) { // what a first failure leaves behind meets the next
      assertThatThrownBy(() -> store.begin("nightly", TICK.plusSeconds(60), 6, "two", Set.of()))
          .isInstanceOf(LockException.class)
          .hasMessageContaining("nightly")
          .hasMessageContaining("outcome holds garbage");
      assertThatThrownBy(() -> store.history("nightly", 9)).isInstanceOf(LockException.class);
      assertThat(store.begin("hourly", TICK.plusSeconds(i + 1), i + 6, "two", Set.of()))
          .isEqualTo(Decision.BEGUN);
    }
    assertThat(store.history("hourly", 9)).hasSize(4);
  }

  @Test
  void missingTablesAreAnErrorThatNamesTheJob() {
    LastRunStore store =
        JdbcLastRunStore.over(
            dialect == Dialect.SQLITE ? EmptyDatabases.create(dialect) : database());
    assertThatThrownBy(() -> store.begin("nightly", TICK, 1, "one", Set.of()))
        .isInstanceOf(LockException.class)
        .hasMessageContaining("nightly");
  }
}
