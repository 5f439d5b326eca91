package dev.lukko.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lukko.Lease;
import dev.lukko.postgres.PostgresServer.Database;
import dev.lukko.schedule.OncePerTick;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.postgresql.ds.PGSimpleDataSource;

/** The real PgBouncer, where there is one; the other tests simulate it. */
@ExtendWith(PostgresServer.Shared.class)
class PgBouncerTest {
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final int SESSIONS = 3;

  /**
   * All that a session may keep for any client that gets it next, but for the parameters that the
   * pooler sets itself and those that come with a library.
   */
  private static final String STATE =
      """
      SELECT 'setting ' || name, setting FROM pg_settings
        WHERE name NOT LIKE 'transaction\\_%' AND name NOT LIKE 'plpgsql.%' AND name NOT IN ('application_name',
          'client_encoding', 'DateStyle', 'TimeZone', 'standard_conforming_strings')
      UNION ALL SELECT 'listens to ' || c, '' FROM pg_listening_channels() AS c
      UNION ALL SELECT 'prepared ' || statement, '' FROM pg_prepared_statements
      UNION ALL SELECT 'cursor ' || name, '' FROM pg_cursors
      UNION ALL SELECT 'lukko.session', coalesce(current_setting('lukko.session', true), '')
      UNION ALL SELECT 'advisory lock ' || classid || '/' || objid, mode FROM pg_locks
        WHERE pid = pg_backend_pid() AND locktype = 'advisory'
      """;

  @TempDir Path directory;

  @Test
  void q4TransactionModeIsRefusedAndSessionModeIsNot(Database database) throws Exception {
    try (PgBouncer transactions = PgBouncer.start(directory, database, "transaction", 20);
        PgBouncer sessions = PgBouncer.start(directory, database, "session", 20)) {
      assertThatThrownBy(() -> transactions.database().locks().build())
          .isInstanceOf(UnsuitableDatabaseException.class)
          .hasMessageContaining("transaction");
      try (PostgresAdvisoryLocks locks = sessions.database().locks().build();
          PostgresAdvisoryLocks direct = database.locks().build();
          Lease lease = locks.acquire("a", TTL)) {
        assertThat(lease.isValid()).isTrue();
        assertThat(direct.tryAcquire("a", TTL)).isEmpty();
      }
    }
  }

  /**
   * In transaction mode the server's sessions belong to everybody: what is set on one for longer
   * than a transaction, others get, such as commits that are not durable.
   */
  @Test
  void nothingThatTheModuleDoesBehindATransactionPoolerStaysOnAServerSession(Database database)
      throws Exception {
    database.execute(
        "ALTER DATABASE "
            + database.name()
            + " SET default_transaction_isolation = 'serializable'");
    database.execute("ALTER DATABASE " + database.name() + " SET synchronous_commit = on");
    try (PgBouncer bouncer = PgBouncer.start(directory, database, "transaction", SESSIONS)) {
      PGSimpleDataSource pooled = bouncer.database().dataSource();
      pooled.setPrepareThreshold(0); // As PgBouncer in this mode wants it.
      Map<Integer, Map<String, String>> before = states(pooled);
      assertThat(before).hasSize(SESSIONS);
      useTheQueue(pooled);
      useTheOrderedQueueOnLease(pooled);
      useTheStore(database, pooled);
      PostgresSchema.standard().create(pooled);
      assertThatThrownBy(() -> PostgresAdvisoryLocks.over(pooled))
          .isInstanceOf(UnsuitableDatabaseException.class);
      // One of them went with the worker that died.
      assertThat(Set.copyOf(states(pooled).values())).isEqualTo(Set.copyOf(before.values()));
    }
  }

  private static void useTheQueue(PGSimpleDataSource pooled) throws Exception {
    try (SkipLockedQueue queue = SkipLockedQueue.over(pooled, "mail")) {
      for (int i = 0; i < 4; i++) {
        queue.enqueue(QueueJob.of("job " + i));
      }
      queue.claim(1).connection().abort(Runnable::run); // A worker dies,
      try (SkipLockedQueue.Claim claim = claimSomething(queue)) { // and another counts that.
        claim.fail(claim.rows().get(0), "no");
        claim.commit();
      }
      try (SkipLockedQueue.Claim claim = queue.claim(1)) {
        claim.finishAll();
        claim.commit();
      }
      queue.claim(1).close();
      while (true) {
        try (SkipLockedQueue.Claim claim = queue.claim(4)) {
          if (claim.rows().isEmpty()) {
            break;
          }
          claim.finishAll();
          claim.commit();
        }
      }
      queue.awaitWork(Duration.ofMillis(300));
      queue.awaitWork(Duration.ofMillis(300));
      queue.deadLetters(5);
      queue.revive(1);
    }
  }

  private static SkipLockedQueue.Claim claimSomething(SkipLockedQueue queue) throws Exception {
    while (true) {
      SkipLockedQueue.Claim claim = queue.claim(4);
      if (!claim.rows().isEmpty()) {
        return claim;
      }
      claim.close();
    }
  }

  private static void useTheOrderedQueueOnLease(PGSimpleDataSource pooled) {
    try (SkipLockedQueue queue = SkipLockedQueue.builder(pooled, "keys").ordered(true).build()) {
      queue.enqueue(QueueJob.of("a1").withOrderingKey("a"));
      queue.enqueue(QueueJob.of("a2").withOrderingKey("a"));
      LeasedRows leased = queue.lease(2, TTL);
      assertThat(leased.rows()).hasSize(1);
      assertThat(leased.renew(TTL)).isOne();
      assertThat(leased.fail(leased.rows().get(0), "no")).isTrue();
    }
  }

  private static void useTheStore(Database direct, PGSimpleDataSource pooled) throws Exception {
    try (PostgresAdvisoryLocks locks = direct.locks().build();
        OncePerTick once = OncePerTick.over(locks, PostgresLastRunStore.over(pooled));
        Connection connection = pooled.getConnection()) {
      once.run("job", Duration.ofDays(1), lease -> {});
      once.history("job", 3);
      connection.setAutoCommit(false);
      connection.createStatement().execute("SET TRANSACTION ISOLATION LEVEL READ COMMITTED");
      locks.inTransaction(connection, List.of("x", "y"), Duration.ofMillis(50));
      connection.commit();
    }
  }

  /** The state of each server session, by its process; all of them are held at the same time. */
  private static Map<Integer, Map<String, String>> states(PGSimpleDataSource pooled)
      throws SQLException {
    Map<Integer, Map<String, String>> states = new TreeMap<>();
    List<Connection> held = new ArrayList<>();
    try {
      for (int i = 0; i < SESSIONS; i++) {
        Connection connection = pooled.getConnection();
        held.add(connection);
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
          int pid;
          try (ResultSet row = statement.executeQuery("SELECT pg_backend_pid()")) {
            row.next();
            pid = row.getInt(1);
          }
          Map<String, String> state = new TreeMap<>();
          try (ResultSet row = statement.executeQuery(STATE)) {
            while (row.next()) {
              state.put(row.getString(1), row.getString(2));
            }
          }
          states.put(pid, state);
        }
      }
    } finally {
      for (Connection connection : held) {
        connection.rollback();
        connection.close();
      }
    }
    return states;
  }
}
