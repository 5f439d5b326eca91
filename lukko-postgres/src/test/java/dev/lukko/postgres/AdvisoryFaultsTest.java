package dev.lukko.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.lukko.Lease;
import dev.lukko.LockException;
import dev.lukko.LockRequest;
import dev.lukko.LossReason;
import dev.lukko.ReleaseOutcome;
import dev.lukko.postgres.PostgresServer.Database;
import dev.lukko.time.Ticker;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.postgresql.ds.PGSimpleDataSource;

/** What goes wrong in the field with session locks, each on a real server. */
@ExtendWith(PostgresServer.Shared.class)
class AdvisoryFaultsTest {
  private static final Duration TTL = Duration.ofSeconds(30);

  private static LockRequest patient(String name) {
    return LockRequest.builder(name).ttl(TTL).maxWait(LockRequest.FOREVER).build();
  }

  @Test
  void q3NamesThatCollideInHashtextHaveNumbersOfTheirOwn(Database database) throws Exception {
    assertThat(
            database.number(
                "SELECT count(*) FROM (SELECT 1 WHERE hashtext('lock:43777') ="
                    + " hashtext('lock:97612')) t"))
        .as("the collision that this test is about")
        .isEqualTo(1);
    try (PostgresAdvisoryLocks locks = database.locks().build();
        PostgresAdvisoryLocks others = database.locks().build();
        Lease one = locks.acquire("lock:43777", TTL);
        Lease two = others.acquire("lock:97612", TTL)) {
      assertThat(one.isValid()).isTrue();
      assertThat(two.isValid()).isTrue();
    }
  }

  @Test
  void q3ACollisionIsReportedAsSuchWithinAProcessAndAcross(Database database) throws Exception {
    LockKey.Maker colliding = (namespace, name) -> new LockKey(namespace, name, 4711, 1, 1);
    try (PostgresAdvisoryLocks locks =
            database.locks().keys(colliding).probeInterval(Duration.ofMillis(20)).build();
        PostgresAdvisoryLocks others = database.locks().keys(colliding).build();
        Lease held = locks.acquire("one", TTL)) {
      assertThatThrownBy(() -> locks.tryAcquire("two", TTL))
          .isInstanceOf(LockNameCollisionException.class)
          .hasMessageContaining("lukko/one")
          .hasMessageContaining("lukko/two");
      await()
          .untilAsserted(
              () -> assertThat(database.number("SELECT count(*) FROM lukko.lock_holder")).isOne());
      assertThatThrownBy(() -> others.tryAcquire("two", TTL))
          .isInstanceOf(LockNameCollisionException.class)
          .hasMessageContaining("collision, not contention");
      assertThat(others.tryAcquire("one", TTL)).as("the same name is contention").isEmpty();
      assertThatThrownBy(
              () -> others.acquire(LockRequest.builder("three", "four").ttl(TTL).build()))
          .isInstanceOf(LockNameCollisionException.class);
      assertThat(held.isValid()).isTrue();
    }
  }

  @Test
  void q4APoolerInTransactionModeIsRefusedWithTheReason(Database database) throws Exception {
    try (TransactionPooler pooler = new TransactionPooler(database)) {
      assertThatThrownBy(() -> database.through(pooler.port()).locks().build())
          .isInstanceOf(UnsuitableDatabaseException.class)
          .hasMessageContaining("pooler")
          .hasMessageContaining("transaction");
    }
    assertThat(database.advisoryLocks()).isZero();
  }

  @Test
  void q4WhatTheRefusalPreventsEveryClientGetsTheLock(Database database) throws Exception {
    try (TransactionPooler pooler = new TransactionPooler(database);
        Connection one = database.through(pooler.port()).connect();
        Connection two = database.through(pooler.port()).connect()) {
      assertThat(bareTryLock(one)).isTrue();
      assertThat(bareTryLock(two)).as("the same server session answers").isTrue();
    }
  }

  private static boolean bareTryLock(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet result = statement.executeQuery("SELECT pg_try_advisory_lock(1)")) {
      return result.next() && result.getBoolean(1);
    }
  }

  @Test
  void q4ASessionThatIsResetBehindOurBackEndsItsLeases(Database database) throws Exception {
    List<Connection> opened = new ArrayList<>();
    try (PostgresAdvisoryLocks locks =
        database
            .locks()
            .dataSource(recording(database, opened))
            .probeInterval(Duration.ofMillis(20))
            .build()) {
      Lease lease = locks.acquire("a", TTL);
      try (Statement statement = opened.get(0).createStatement()) {
        statement.execute("DISCARD ALL"); // What a pooler does to a session that it hands on.
      }
      assertThat(lease.lost().toCompletableFuture().join()).isEqualTo(LossReason.SESSION_ENDED);
      locks.acquire("a", TTL).close();
    }
  }

  private static DataSource recording(Database database, List<Connection> opened) {
    return new org.postgresql.ds.PGSimpleDataSource() {
      private static final long serialVersionUID = 1L;

      {
        setUrl(database.url());
        setUser("postgres");
      }

      @Override
      public Connection getConnection() throws SQLException {
        Connection connection = super.getConnection();
        opened.add(connection);
        return connection;
      }
    };
  }

  @Test
  void q5AndQ8ADataSourceThatPoolsIsRefused(Database database) throws Exception {
    try (Connection physical = database.connect()) {
      Connection pooled =
          (Connection)
              java.lang.reflect.Proxy.newProxyInstance(
                  getClass().getClassLoader(),
                  new Class<?>[] {Connection.class},
                  (proxy, method, arguments) -> method.invoke(physical, arguments));
      org.postgresql.ds.PGSimpleDataSource pool =
          new org.postgresql.ds.PGSimpleDataSource() {
            private static final long serialVersionUID = 1L;

            @Override
            public Connection getConnection() {
              return pooled;
            }
          };
      assertThatThrownBy(() -> PostgresAdvisoryLocks.over(pool))
          .isInstanceOf(UnsuitableDatabaseException.class)
          .hasMessageContaining("pool");
    }
  }

  @Test
  void q5AnUnlockThatTheServerDoesNotConfirmDropsTheConnection(Database database) throws Exception {
    List<Connection> opened = new ArrayList<>();
    try (PostgresAdvisoryLocks locks =
        database.locks().dataSource(recording(database, opened)).build()) {
      Lease first = locks.acquire("a", TTL);
      Lease second = locks.acquire("b", TTL);
      try (Statement statement = opened.get(0).createStatement()) {
        statement.execute("SELECT pg_advisory_unlock_all()");
      }
      assertThat(first.release().status()).isEqualTo(ReleaseOutcome.Status.NOT_HELD);
      assertThat(second.lost().toCompletableFuture().join()).isEqualTo(LossReason.SESSION_ENDED);
      assertThat(opened.get(0).isClosed()).isTrue();
      locks.acquire("a", TTL).close();
      assertThat(opened).as("the second one was to try the server's locks").hasSize(3);
    }
  }

  @Test
  void q6ATerminatedBackendSignalsTheLossAndTheNextCallOpensAnother(Database database)
      throws Exception {
    try (PostgresAdvisoryLocks locks =
        database.locks().probeInterval(Duration.ofMillis(50)).build()) {
      Lease lease = locks.acquire("a", TTL);
      Lease another = locks.acquire("b", TTL);
      terminateLockSessions(database);
      assertThat(lease.lost().toCompletableFuture().join()).isEqualTo(LossReason.SESSION_ENDED);
      assertThat(another.lost().toCompletableFuture().join()).isEqualTo(LossReason.SESSION_ENDED);
      assertThat(lease.isValid()).isFalse();
      assertThat(lease.release().status()).isEqualTo(ReleaseOutcome.Status.NOT_HELD);
      try (Lease next = locks.acquire("a", TTL)) {
        assertThat(next.fencingToken()).isGreaterThan(lease.fencingToken());
      }
      assertThatThrownBy(lease::close).hasMessageContaining("session");
    }
  }

  private static void terminateLockSessions(Database database) throws SQLException {
    assertThat(
            database.number(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                    + " WHERE application_name LIKE 'lukko %' AND datname = current_database()"))
        .isPositive();
  }

  @Test
  void q6ASessionThatDiedWhileItHeldNothingIsReplacedWithoutAnError(Database database)
      throws Exception {
    try (PostgresAdvisoryLocks locks = database.locks().build()) {
      locks.acquire("a", TTL).close();
      terminateLockSessions(database);
      try (Lease lease = locks.acquire("a", TTL)) {
        assertThat(lease.isValid()).isTrue();
      }
    }
  }

  @Test
  void q6ACutWireEndsTheLeaseThoughNobodyIsTold(Database database) throws Exception {
    try (TcpProxy wire = new TcpProxy(database.port());
        PostgresAdvisoryLocks locks =
            database
                .through(wire.port())
                .locks()
                .nodeTimeout(Duration.ofMillis(500))
                .probeInterval(Duration.ofMillis(50))
                .build()) {
      Lease lease = locks.acquire("a", Duration.ofMillis(400));
      wire.cut();
      assertThat(lease.lost().toCompletableFuture().join())
          .isIn(LossReason.EXPIRED, LossReason.SESSION_ENDED);
      assertThat(lease.isValid()).isFalse();
      wire.mend();
      await().ignoreExceptions().untilAsserted(() -> locks.acquire("b", TTL).close());
    }
  }

  @Test
  void q6TheServersIdleLimitDoesNotEndASessionThatHoldsALease(Database database) throws Exception {
    database.execute("ALTER DATABASE " + database.name() + " SET idle_session_timeout = '400ms'");
    try (PostgresAdvisoryLocks locks =
            database.locks().probeInterval(Duration.ofMinutes(10)).build();
        Lease lease = locks.acquire("a", Duration.ofMinutes(30))) {
      long start = System.nanoTime();
      await()
          .until(
              () -> {
                lease.ensureValid();
                return System.nanoTime() - start > Duration.ofMillis(1_500).toNanos();
              });
      assertThat(database.advisoryLocks()).isOne();
    }
  }

  @Test
  void q6AStricterStatementTimeoutOfTheServerStands(Database database) throws Exception {
    database.execute("ALTER DATABASE " + database.name() + " SET statement_timeout = '123ms'");
    List<Connection> opened = new ArrayList<>();
    try (PostgresAdvisoryLocks locks =
        database.locks().dataSource(recording(database, opened)).build()) {
      locks.acquire("a", TTL).close();
      try (Statement statement = opened.get(0).createStatement();
          ResultSet setting = statement.executeQuery("SHOW statement_timeout")) {
        setting.next();
        assertThat(setting.getString(1)).isEqualTo("123ms");
      }
    }
  }

  @Test
  void aProcessThatStoodStillSeesItsLeaseEndedBeforeAnythingElse(Database database) {
    AtomicLong jump = new AtomicLong();
    Ticker ticker =
        new Ticker() {
          @Override
          public long nanoTime() {
            return System.nanoTime() + jump.get();
          }

          @Override
          public long wallMicros() {
            return Ticker.system().wallMicros() + jump.get() / 1_000;
          }
        };
    try (PostgresAdvisoryLocks locks = database.locks().ticker(ticker).build();
        PostgresAdvisoryLocks others = database.locks().build()) {
      Lease lease = locks.acquire("a", TTL);
      jump.set(Duration.ofHours(1).toNanos());
      assertThat(lease.isValid()).isFalse();
      assertThat(lease.lost().toCompletableFuture().join()).isEqualTo(LossReason.PAUSE_DETECTED);
      assertThat(others.tryAcquire("a", TTL, Duration.ofSeconds(10)))
          .as("the session lives, and must not keep the lock from others")
          .hasValueSatisfying(Lease::close);
      assertThat(lease.isValid()).as("never revived").isFalse();
    }
  }

  @Test
  void q7AHolderBuildsAnIndexConcurrentlyBesideTwentyWaiters(Database database) throws Exception {
    database.execute("CREATE TABLE big AS SELECT g AS n FROM generate_series(1, 20000) g");
    List<PostgresAdvisoryLocks> clients = new ArrayList<>();
    List<CompletableFuture<Lease>> waits = new ArrayList<>();
    try (PostgresAdvisoryLocks locks = database.locks().build()) {
      Lease lease = locks.acquire("migration", TTL);
      for (int i = 0; i < 20; i++) {
        PostgresAdvisoryLocks client =
            database
                .locks()
                .retryDelay(Duration.ofMillis(1))
                .retryJitter(Duration.ofMillis(5))
                .build();
        clients.add(client);
        waits.add(client.acquireAsync(patient("migration")));
      }
      // On a busy machine some are always between two tries.
      await().atMost(Duration.ofMinutes(1)).until(() -> database.advisoryLocks() > 10);

      database.execute("CREATE INDEX CONCURRENTLY big_n ON big (n)");

      assertThat(waits).noneMatch(CompletableFuture::isDone);
      assertThat(lease.isValid()).isTrue();
      lease.close();
      CompletableFuture.allOf(
              waits.stream()
                  .map(wait -> wait.thenCompose(Lease::releaseAsync))
                  .toArray(CompletableFuture[]::new))
          .join();
    } finally {
      clients.forEach(PostgresAdvisoryLocks::close);
    }
    assertThat(
            database.number(
                "SELECT count(*) FROM pg_index WHERE indisvalid AND indrelid ="
                    + " 'big'::regclass"))
        .isOne();
  }

  @Test
  void q7WhatIsPreventedABareBlockingWaitDeadlocksWithTheIndex(Database database) throws Exception {
    database.execute("CREATE TABLE big AS SELECT g AS n FROM generate_series(1, 100) g");
    try (Connection holder = database.connect();
        Statement hold = holder.createStatement();
        Connection waiter = database.connect();
        Statement wait = waiter.createStatement()) {
      hold.execute("SELECT pg_advisory_lock(1)");
      CompletableFuture<String> waiting =
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  wait.execute("SELECT pg_advisory_lock(1)");
                  return "granted";
                } catch (SQLException failure) {
                  return String.valueOf(failure.getSQLState());
                }
              });
      await()
          .until(
              () ->
                  database.number(
                          "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT"
                              + " granted")
                      == 1);
      String index;
      try {
        hold.execute("CREATE INDEX CONCURRENTLY big_n ON big (n)");
        index = "built";
      } catch (SQLException failure) {
        index = failure.getSQLState();
      }
      if ("built".equals(index)) { // The waiter was the victim.
        assertThat(waiting.join()).isEqualTo("40P01");
      } else {
        assertThat(index).isEqualTo("40P01");
        hold.execute("SELECT pg_advisory_unlock_all()");
        assertThat(waiting.join()).isEqualTo("granted");
      }
    }
  }

  @Test
  void q8TenHoldersNeedOneConnectionBesidesTheirOwn(Database database) throws Exception {
    try (PostgresAdvisoryLocks locks = database.locks().build()) {
      List<Lease> leases = new ArrayList<>();
      for (int i = 0; i < 10; i++) {
        leases.add(locks.acquire("holder-" + i, TTL));
      }
      assertThat(
              database.number(
                  "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                      + " AND application_name LIKE 'lukko %'"))
          .isOne();
      leases.forEach(Lease::close);
    }
  }

  @Test
  void aFullLockTableIsExplainedAndLeavesNothingHeld() throws Exception {
    try (PostgresServer small =
        PostgresServer.start(
            "max_locks_per_transaction", "10", "max_connections", "10", "shared_buffers", "1MB")) {
      Database database = small.database();
      try (PostgresAdvisoryLocks locks = database.locks().build()) {
        List<Lease> leases = new ArrayList<>();
        assertThatThrownBy(
                () -> {
                  for (int i = 0; i < 100_000; i++) {
                    leases.add(locks.acquire("lock-" + i, TTL));
                  }
                })
            .isInstanceOf(LockException.class)
            .hasMessageContaining("max_locks_per_transaction")
            .hasMessageContaining("table leases");
        assertThat(leases.size()).isGreaterThan(100);
        leases.forEach(Lease::close);
        assertThat(database.advisoryLocks()).isZero();
      }
    }
  }

  @Test
  void aMissingSchemaIsNamedWithTheRemedy(PostgresServer server) throws Exception {
    Database bare = server.emptyDatabase();
    assertThatThrownBy(() -> bare.locks().build())
        .isInstanceOf(UnsuitableDatabaseException.class)
        .hasMessageContaining("PostgresSchema.create");
    PostgresSchema.standard().create(bare.dataSource());
    PostgresSchema.standard().create(bare.dataSource()); // Again: nothing happens.
    try (PostgresAdvisoryLocks locks = bare.locks().build()) {
      locks.acquire("a", TTL).close();
    }
    assertThat(PostgresSchema.named("locks").ddl()).anyMatch(sql -> sql.contains("locks.queue"));
    assertThatThrownBy(() -> PostgresSchema.named("x; drop"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("schema");
  }

  @Test
  void aServerThatHangsBoundsEveryCall(Database database) throws Exception {
    try (TcpProxy wire = new TcpProxy(database.port());
        PostgresAdvisoryLocks locks =
            database.through(wire.port()).locks().nodeTimeout(Duration.ofMillis(300)).build()) {
      Lease lease = locks.acquire("a", TTL);
      wire.cut();
      assertThat(lease.release().status()).isEqualTo(ReleaseOutcome.Status.UNKNOWN);
      assertThatThrownBy(() -> locks.tryAcquire("b", TTL))
          .isInstanceOf(dev.lukko.QuorumUnavailableException.class);
    }
  }

  @Test
  void leaseOfManyNamesIsReleasedOverALongWireWithoutLossOfTheOthers(Database database)
      throws Exception {
    try (TcpProxy wire = new TcpProxy(database.port());
        PostgresAdvisoryLocks locks = database.through(wire.port()).locks().build();
        PostgresAdvisoryLocks others = database.locks().build()) {
      Lease other = locks.acquire("other", TTL);
      List<String> names = IntStream.range(0, 64).mapToObj(i -> "name " + i).toList();
      Lease many =
          locks.acquire(LockRequest.builder(names).ttl(TTL).maxWait(LockRequest.FOREVER).build());
      CompletableFuture<Lease> waiting = others.acquireAsync(patient("name 7"));
      await()
          .until(
              () ->
                  database.number(
                          "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND"
                              + " datname = current_database()")
                      > 0);
      wire.delay(40); // A statement for each name would take longer than the node timeout.
      assertThat(many.release().status()).isEqualTo(ReleaseOutcome.Status.RELEASED);
      wire.delay(0);
      assertThat(other.isValid()).isTrue();
      assertThat(other.lost().toCompletableFuture()).isNotDone();
      waiting.get().close();
      other.close();
    }
    assertThat(database.advisoryLocks()).isZero();
  }

  @Test
  void serverThatStandsStillForTheNodeTimeoutEndsALeaseHoweverLongItsTtl(Database database)
      throws Exception {
    try (TcpProxy wire = new TcpProxy(database.port());
        PostgresAdvisoryLocks locks =
            database
                .through(wire.port())
                .locks()
                .nodeTimeout(Duration.ofMillis(500))
                .probeInterval(Duration.ofMillis(50))
                .build()) {
      Lease lease = locks.acquire("a", Duration.ofHours(1));
      wire.cut();
      assertThat(lease.lost().toCompletableFuture().get()).isEqualTo(LossReason.SESSION_ENDED);
    }
  }

  @Test
  void lockFunctionsThatAlwaysSayTrueAreRefusedWhenTheClientOpens(Database database)
      throws Exception {
    database.execute("CREATE SCHEMA pretended");
    for (String call :
        List.of(
            "pg_try_advisory_lock(bigint)",
            "pg_try_advisory_lock_shared(bigint)",
            "pg_try_advisory_xact_lock(bigint)",
            "pg_advisory_unlock(bigint)")) {
      database.execute(
          "CREATE FUNCTION pretended." + call + " RETURNS boolean LANGUAGE sql AS 'SELECT true'");
    }
    database.locks().build().close();
    database.execute(
        "ALTER DATABASE " + database.name() + " SET search_path = pretended, pg_catalog, public");
    assertThatThrownBy(() -> database.locks().build())
        .isInstanceOf(UnsuitableDatabaseException.class)
        .hasMessageContaining("do not exclude");
  }

  @Test
  void sessionInAnotherDatabaseThanTheFirstIsRefused(PostgresServer server) throws Exception {
    Database first = server.database();
    Database second = server.database();
    AtomicReference<Database> tenant = new AtomicReference<>(first);
    List<Connection> opened = new ArrayList<>();
    PGSimpleDataSource byTenant =
        new PGSimpleDataSource() {
          private static final long serialVersionUID = 1L;

          @Override
          public Connection getConnection() throws SQLException {
            Connection connection = tenant.get().connect();
            opened.add(connection);
            return connection;
          }
        };
    try (PostgresAdvisoryLocks locks = first.locks().dataSource(byTenant).build()) {
      locks.acquire("a", TTL).close();
      tenant.set(second);
      opened.get(0).close();
      assertThatThrownBy(() -> locks.tryAcquire("a", TTL))
          .isInstanceOf(UnsuitableDatabaseException.class)
          .hasMessageContaining(first.name())
          .hasMessageContaining(second.name());
    }
    AtomicInteger connections = new AtomicInteger();
    PGSimpleDataSource inTurns =
        new PGSimpleDataSource() {
          private static final long serialVersionUID = 1L;

          @Override
          public Connection getConnection() throws SQLException {
            return (connections.getAndIncrement() % 2 == 0 ? first : second).connect();
          }
        };
    assertThatThrownBy(() -> PostgresAdvisoryLocks.over(inTurns))
        .isInstanceOf(UnsuitableDatabaseException.class)
        .hasMessageContaining("different databases");
  }
}
