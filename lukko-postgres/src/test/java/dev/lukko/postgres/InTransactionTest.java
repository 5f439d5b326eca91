package dev.lukko.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.lukko.Lease;
import dev.lukko.LockBusyException;
import dev.lukko.LockException;
import dev.lukko.LockRequest;
import dev.lukko.postgres.PostgresServer.Database;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@ExtendWith(PostgresServer.Shared.class)
class InTransactionTest {
  private static final Duration TTL = Duration.ofSeconds(30);

  private Database database;
  private PostgresAdvisoryLocks locks;
  private Connection one;
  private Connection two;

  @BeforeEach
  void open(Database database) throws SQLException {
    this.database = database;
    locks = database.locks().build();
    one = database.connect();
    two = database.connect();
    one.setAutoCommit(false);
    two.setAutoCommit(false);
  }

  @AfterEach
  void close() throws SQLException {
    one.close();
    two.close();
    locks.close();
  }

  @Test
  void commitAndRollbackReleaseTheLock() throws Exception {
    long first = locks.inTransaction(one, "a");
    assertThat(locks.tryInTransaction(two, "a")).isEmpty();
    one.commit();
    OptionalLong second = locks.tryInTransaction(two, "a");
    assertThat(second.orElseThrow()).isGreaterThan(first);
    assertThat(locks.tryInTransaction(one, "a")).isEmpty();
    two.rollback();
    assertThat(locks.tryInTransaction(one, "a")).isPresent();
  }

  @Test
  void aTransactionAndALeaseOfTheSameNameExcludeEachOther() throws Exception {
    try (Lease lease = locks.acquire("a", TTL)) {
      assertThat(locks.tryInTransaction(one, "a")).isEmpty();
      assertThat(lease.isValid()).isTrue();
    }
    assertThat(locks.tryInTransaction(one, "a")).isPresent();
    assertThat(locks.tryAcquire("a", TTL)).isEmpty();
    one.commit();
    assertThat(locks.tryAcquire("a", TTL)).hasValueSatisfying(Lease::close);
  }

  @Test
  void anAutocommitConnectionIsRefused() throws Exception {
    one.setAutoCommit(true);
    assertThatThrownBy(() -> locks.inTransaction(one, "a"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("autocommit");
    assertThatThrownBy(() -> locks.tryInTransaction(one, "a"))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(database.advisoryLocks()).isZero();
  }

  @Test
  void aWaitThatEndsInVainLeavesTheTransactionUsable() throws Exception {
    locks.inTransaction(two, "a");
    try (Statement statement = one.createStatement()) {
      statement.execute("CREATE TABLE mine (n int)");
      statement.execute("SET LOCAL lock_timeout = '7777ms'");
      assertThatThrownBy(() -> locks.inTransaction(one, "a", Duration.ofMillis(50)))
          .isInstanceOf(LockBusyException.class);
      statement.execute("INSERT INTO mine VALUES (1)");
      try (ResultSet setting = statement.executeQuery("SHOW lock_timeout")) {
        setting.next();
        assertThat(setting.getString(1)).isEqualTo("7777ms");
      }
    }
    one.commit();
    assertThat(database.number("SELECT count(*) FROM mine")).isOne();
  }

  @Test
  void aWaitThatEndsInVainTellsWhoHoldsTheLock() throws Exception {
    try (PostgresAdvisoryLocks holder =
            database
                .locks()
                .description("the night shift")
                .probeInterval(Duration.ofMillis(20))
                .build();
        Lease lease = holder.acquire("b", TTL)) {
      await().until(() -> database.number("SELECT count(*) FROM lukko.lock_holder") == 1);
      assertThatThrownBy(() -> locks.inTransaction(one, List.of("a", "b"), Duration.ofMillis(50)))
          .isInstanceOfSatisfying(
              LockBusyException.class,
              busy ->
                  assertThat(busy.holder().orElseThrow().toString()).contains("the night shift"))
          .hasMessageContaining("the night shift");
      assertThat(lease.isValid()).isTrue();
      assertThat(locks.tryInTransaction(one, "a")).as("usable, and a is free").isPresent();
    }
    one.rollback();
    locks.inTransaction(two, "a");
    assertThatThrownBy(() -> locks.inTransaction(one, "a", Duration.ofMillis(50)))
        .as("a transaction leaves no name, and is told by its server process")
        .hasMessageContaining("server process");
  }

  @Test
  void aLockOfAnotherNameWithTheSameNumberIsReportedAsThat() throws Exception {
    LockKey.Maker same = (namespace, name) -> new LockKey(namespace, name, 4711, 47, 11);
    try (PostgresAdvisoryLocks holder =
            database.locks().keys(same).probeInterval(Duration.ofMillis(20)).build();
        PostgresAdvisoryLocks colliding = database.locks().keys(same).build();
        Lease lease = holder.acquire("a", TTL)) {
      await().until(() -> database.number("SELECT count(*) FROM lukko.lock_holder") == 1);
      assertThatThrownBy(() -> colliding.tryInTransaction(one, "b"))
          .isInstanceOf(LockNameCollisionException.class);
      assertThatThrownBy(() -> colliding.inTransaction(one, "b", Duration.ofMillis(50)))
          .isInstanceOf(LockNameCollisionException.class);
      assertThat(colliding.tryInTransaction(one, "a")).as("the same name is busy").isEmpty();
      assertThat(lease.isValid()).isTrue();
    }
  }

  @Test
  void aWaiterIsGrantedWhenTheOtherTransactionEnds() throws Exception {
    locks.inTransaction(two, "a");
    Thread ending =
        new Thread(
            () -> {
              try {
                await()
                    .until(
                        () ->
                            database.number(
                                    "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"
                                        + " AND NOT granted")
                                > 0);
                two.commit();
              } catch (SQLException failure) {
                throw new IllegalStateException(failure);
              }
            });
    ending.start();
    assertThat(locks.inTransaction(one, "a", Duration.ofSeconds(60))).isPositive();
    ending.join();
  }

  /** Calls while another transaction holds some of the names, which ends when this one waits. */
  private long lockedAfterAWait(List<String> names, Duration maxWait) throws Exception {
    locks.inTransaction(two, "b");
    CompletableFuture<Long> waiting =
        CompletableFuture.supplyAsync(() -> locks.inTransaction(one, names, maxWait));
    await()
        .until(
            () ->
                waiting.isDone()
                    || database.number(
                            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"
                                + " AND NOT granted")
                        > 0);
    two.commit();
    return waiting.get();
  }

  @Test
  void severalNamesThatHaveToBeWaitedForAreGranted() throws Exception {
    assertThat(lockedAfterAWait(List.of("a", "b", "c"), Duration.ofSeconds(60))).isPositive();
    assertThat(database.advisoryLocks()).isEqualTo(3);
  }

  /**
   * The last wait is the only limit that can be seen: it must be shorter by what the database's own
   * clock says that the wait before it has taken at least.
   */
  @Test
  void waitsForSeveralNamesShareOneBudget() throws Exception {
    long budgetMillis = 600_000;
    locks.inTransaction(two, "a");
    locks.inTransaction(two, "b");
    AtomicLong lastLimitMillis = new AtomicLong();
    Connection watched = watched(one, lastLimitMillis);
    CompletableFuture<Long> waiting =
        CompletableFuture.supplyAsync(
            () -> locks.inTransaction(watched, List.of("a", "b"), Duration.ofMillis(budgetMillis)));
    await()
        .until(
            () ->
                database.number(
                        "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
                    > 0);
    String now = "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
    long seenMillis = database.number(now);
    await().until(() -> database.number(now) > seenMillis + 20);
    long waitedMillis = database.number(now) - seenMillis;
    two.commit();

    assertThat(waiting.get()).isPositive();
    assertThat(lastLimitMillis.get())
        .isPositive()
        .isLessThanOrEqualTo(budgetMillis - waitedMillis + 1); // each look is cut to a millisecond
  }

  /** The connection, which reads its limit on waits each time before that is set anew. */
  private static Connection watched(Connection connection, AtomicLong limitMillis) {
    return (Connection)
        Proxy.newProxyInstance(
            Connection.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("prepareStatement")
                  && String.valueOf(arguments[0]).startsWith("SELECT current_setting('lock_time")) {
                try (Statement statement = connection.createStatement();
                    ResultSet limit =
                        statement.executeQuery(
                            "SELECT setting FROM pg_settings WHERE name = 'lock_timeout'")) {
                  limit.next();
                  limitMillis.set(limit.getLong(1));
                }
              }
              try {
                return method.invoke(connection, arguments);
              } catch (InvocationTargetException failed) {
                throw failed.getCause();
              }
            });
  }

  @Test
  void everyWaitThatARequestCanExpressIsWaited() throws Exception {
    for (Duration wait :
        List.of(
            LockRequest.FOREVER,
            Duration.ofSeconds(Long.MAX_VALUE),
            Duration.ofDays(30),
            Duration.ofMillis(Integer.MAX_VALUE + 1L))) {
      assertThat(lockedAfterAWait(List.of("b"), wait)).as("%s", wait).isPositive();
      one.commit();
    }
    locks.inTransaction(two, "b");
    for (Duration none : List.of(Duration.ZERO, Duration.ofNanos(1), Duration.ofDays(-1))) {
      assertThatThrownBy(() -> locks.inTransaction(one, "b", none))
          .as("%s", none)
          .isInstanceOf(LockBusyException.class);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"read uncommitted", "read committed"})
  void transactionsThatLockReadTheMaximumAndInsertTheNextGetDifferentNumbers(String level)
      throws Exception {
    database.execute("CREATE TABLE ticket (n int)");
    int transactions = 40;
    int workers = 4;
    List<CompletableFuture<Void>> running = new ArrayList<>();
    for (int i = 0; i < workers; i++) {
      running.add(CompletableFuture.runAsync(() -> insertNext(level, transactions / workers)));
    }
    CompletableFuture.allOf(running.toArray(CompletableFuture[]::new)).get();
    assertThat(database.number("SELECT count(DISTINCT n) FROM ticket")).isEqualTo(transactions);
  }

  private void insertNext(String level, int times) {
    try (Connection connection = database.connect();
        Statement statement = connection.createStatement()) {
      connection.setAutoCommit(false);
      for (int i = 0; i < times; i++) {
        statement.execute("SET TRANSACTION ISOLATION LEVEL " + level);
        locks.inTransaction(connection, "ticket", Duration.ofMinutes(5));
        statement.execute("INSERT INTO ticket SELECT coalesce(max(n), 0) + 1 FROM ticket");
        connection.commit();
      }
    } catch (SQLException failure) {
      throw new IllegalStateException(failure);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"repeatable read", "serializable"})
  void transactionWhoseSnapshotMayBeOlderThanTheLockIsRefusedAndLocksNothing(String level)
      throws Exception {
    try (Statement statement = one.createStatement()) {
      statement.execute("SET TRANSACTION ISOLATION LEVEL " + level);
      for (List<String> names : List.of(List.of("a"), List.of("a", "b"))) {
        assertThatThrownBy(() -> locks.inTransaction(one, names, Duration.ofMillis(50)))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining(level.toUpperCase(Locale.ROOT))
            .hasMessageContaining("READ COMMITTED")
            .hasMessageContaining("before the lock was granted");
        assertThatThrownBy(() -> locks.tryInTransaction(one, names))
            .isInstanceOf(IllegalArgumentException.class);
      }
      statement.execute("SELECT 1"); // The transaction is as it was.
    }
    assertThat(database.advisoryLocks()).isZero();
  }

  @Test
  void severalNamesAreLockedTogetherOrNotAtAll() throws Exception {
    locks.inTransaction(two, "b");
    assertThat(locks.tryInTransaction(one, List.of("a", "b", "c"))).isEmpty();
    assertThat(database.advisoryLocks()).as("only b").isOne();
    two.commit();
    assertThat(locks.tryInTransaction(one, List.of("a", "b", "c", "b"))).isPresent();
    assertThat(database.advisoryLocks()).isEqualTo(3);
  }

  @Test
  void thousandsOfLocksFailWithAnExplanation() throws Exception {
    try (PostgresServer small =
        PostgresServer.start("max_locks_per_transaction", "10", "max_connections", "10")) {
      Database tight = small.database();
      try (PostgresAdvisoryLocks client = tight.locks().build();
          Connection connection = tight.connect()) {
        connection.setAutoCommit(false);
        List<String> names = IntStream.range(0, 100_000).mapToObj(i -> "row-" + i).toList();
        assertThatThrownBy(() -> client.inTransaction(connection, names, TTL))
            .isInstanceOf(LockException.class)
            .hasMessageContaining("out of shared memory")
            .hasMessageContaining("max_locks_per_transaction")
            .hasMessageContaining("table leases");
        connection.rollback();
        assertThat(client.tryInTransaction(connection, "row-1")).isPresent();
      }
    }
  }

  @Test
  void exactlyTheNamesThatWereAskedForAreLockedWhateverThePlannerDoes() throws Exception {
    database.execute("CREATE TABLE item AS SELECT g AS id FROM generate_series(1, 100) g");
    try (Statement statement = one.createStatement()) {
      // The trap: the function runs for each row that the scan meets, before the other filter.
      statement
          .executeQuery(
              "SELECT id FROM item WHERE pg_try_advisory_xact_lock(id)"
                  + " AND id > (SELECT 98 + random() * 0) LIMIT 1")
          .close();
      assertThat(database.advisoryLocks()).as("one row returned, others locked").isGreaterThan(1);
    }
    one.rollback();
    List<String> names = IntStream.rangeClosed(1, 10).mapToObj(Integer::toString).toList();
    locks.inTransaction(one, names, TTL);
    assertThat(database.advisoryLocks()).isEqualTo(10);
  }
}
