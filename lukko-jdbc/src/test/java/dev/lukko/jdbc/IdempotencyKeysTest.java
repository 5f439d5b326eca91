package dev.lukko.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.lukko.fencing.KeyInProgressException;
import dev.lukko.fencing.KeyReusedException;
import dev.lukko.fencing.RequestFingerprint;
import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class IdempotencyKeysTest {
  private static final RequestFingerprint REQUEST = RequestFingerprint.of("pay 100 to bob");

  private final AtomicInteger runs = new AtomicInteger();

  @ParameterizedTest
  @EnumSource
  void repeatReturnsTheStoredResultWithoutDoingTheWork(Dialect dialect) throws Exception {
    DataSource database = withTables(dialect);
    IdempotencyKeys keys = IdempotencyKeys.over(database);
    String receipt = "receipt \u20AC \uD83D\uDD12 ".repeat(10_000);

    assertThat(keys.runOnce("key", REQUEST, connection -> pay(connection, receipt)))
        .isEqualTo(receipt);
    assertThat(keys.runOnce("key", REQUEST, connection -> pay(connection, "another")))
        .isEqualTo(receipt);
    assertThat(keys.runOnce("Key ", REQUEST, connection -> pay(connection, null))).isNull();
    assertThat(keys.runOnce("Key ", REQUEST, connection -> pay(connection, "x"))).isNull();

    assertThat(runs).hasValue(2);
    assertThat(payments(database)).isEqualTo(2);
  }

  @ParameterizedTest
  @EnumSource
  void failedRunLeavesNothingAndTheNextOneDoesTheWork(Dialect dialect) throws Exception {
    DataSource database = withTables(dialect);
    IdempotencyKeys keys = IdempotencyKeys.over(database);

    assertThatThrownBy(
            () ->
                keys.runOnce(
                    "key",
                    REQUEST,
                    connection -> {
                      pay(connection, "lost");
                      throw new IOException("printer on fire");
                    }))
        .isInstanceOf(IOException.class)
        .hasMessage("printer on fire")
        .hasNoSuppressedExceptions();
    assertThat(payments(database)).isZero();

    assertThat(keys.runOnce("key", REQUEST, connection -> pay(connection, "done")))
        .isEqualTo("done");
    assertThat(payments(database)).isEqualTo(1);
  }

  /**
   * An aspect's {@code proceed()} declares Throwable; its body must compile here without a cast.
   */
  @Test
  void whateverTheWorkThrowsReachesTheCallerAndLeavesNothing() throws Exception {
    DataSource database = withTables(Dialect.H2);
    IdempotencyKeys keys = IdempotencyKeys.over(database);
    Throwable thrown = new Throwable("neither exception nor error");
    IdempotentWork<Throwable> work =
        connection -> {
          pay(connection, "lost");
          throw thrown;
        };

    assertThatThrownBy(() -> keys.runOnce("key", REQUEST, work)).isSameAs(thrown);
    try (Connection connection = database.getConnection()) {
      connection.setAutoCommit(false);
      assertThatThrownBy(() -> keys.runOnce(connection, "key", REQUEST, work)).isSameAs(thrown);
      connection.commit();
    }

    assertThat(runs).hasValue(2);
    assertThat(payments(database)).isZero();
  }

  @ParameterizedTest
  @EnumSource
  void keyOfAnotherRequestIsRefusedNamingKeyAndBothFingerprints(Dialect dialect) throws Exception {
    DataSource database = withTables(dialect);
    IdempotencyKeys keys = IdempotencyKeys.over(database);
    RequestFingerprint other = RequestFingerprint.of("pay 100 to mallory");
    keys.runOnce("key", REQUEST, connection -> pay(connection, "done"));

    assertThatThrownBy(() -> keys.runOnce("key", other, connection -> pay(connection, "x")))
        .isInstanceOfSatisfying(
            KeyReusedException.class, reused -> assertThat(reused.key()).isEqualTo("key"))
        .hasMessageContainingAll("\"key\"", REQUEST.shortForm(), other.shortForm());
    try (Connection connection = database.getConnection()) {
      connection.setAutoCommit(false);
      assertThatThrownBy(() -> keys.runOnce(connection, "key", other, c -> pay(c, "x")))
          .isInstanceOf(KeyReusedException.class);
      connection.rollback();
    }
    assertThat(runs).hasValue(1);
  }

  @ParameterizedTest
  @EnumSource
  void concurrentRepeatWaitsAndGetsTheResult(Dialect dialect) throws Exception {
    concurrentRepeat(dialect, withTables(dialect));
  }

  @Test
  void concurrentRepeatOnASerializableConnectionWaitsAndGetsTheResult() throws Exception {
    DataSource database = withTables(Dialect.POSTGRES);
    concurrentRepeat(
        Dialect.POSTGRES,
        EmptyDatabases.at(
            EmptyDatabases.urlOf(database)
                + "&options=-c%20default_transaction_isolation=serializable"));
  }

  private void concurrentRepeat(Dialect dialect, DataSource database) throws Exception {
    IdempotencyKeys keys = IdempotencyKeys.over(database);
    CountDownLatch inside = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    try (LockWaits waits = new LockWaits(dialect, database)) {
      Running first =
          start(
              () ->
                  keys.runOnce(
                      "key",
                      REQUEST,
                      connection -> {
                        inside.countDown();
                        awaitLatch(goOn);
                        return pay(connection, "done");
                      }));
      awaitLatch(inside);
      Running repeat = start(() -> keys.runOnce("key", REQUEST, c -> pay(c, "twice")));
      await().until(() -> waits.areWaiting(repeat.thread));
      goOn.countDown();

      assertThat(first.get()).isEqualTo("done");
      assertThat(repeat.get()).isEqualTo("done");
    }
    assertThat(payments(database)).isEqualTo(1);
  }

  @ParameterizedTest
  @EnumSource
  void whenTheFirstFailsOneOfTheWaitingRepeatsDoesTheWork(Dialect dialect) throws Exception {
    DataSource database = withTables(dialect);
    IdempotencyKeys keys = IdempotencyKeys.over(database);
    CountDownLatch inside = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    try (LockWaits waits = new LockWaits(dialect, database)) {
      Running first =
          start(
              () ->
                  keys.runOnce(
                      "key",
                      REQUEST,
                      connection -> {
                        pay(connection, "lost");
                        inside.countDown();
                        awaitLatch(goOn);
                        throw new IllegalStateException("failed");
                      }));
      awaitLatch(inside);
      Running one = start(() -> keys.runOnce("key", REQUEST, c -> pay(c, "one")));
      Running other = start(() -> keys.runOnce("key", REQUEST, c -> pay(c, "other")));
      await().until(() -> waits.areWaiting(one.thread, other.thread));
      goOn.countDown();

      assertThatThrownBy(first::get).hasRootCauseMessage("failed");
      assertThat(one.get()).isEqualTo(other.get()).isIn("one", "other");
    }
    assertThat(runs).hasValue(2);
    assertThat(payments(database)).isEqualTo(1);
  }

  @ParameterizedTest
  @EnumSource
  void repeatGivesUpWhenTheFirstDoesNotEndWithinTheWait(Dialect dialect) throws Exception {
    DataSource database = withTables(dialect);
    IdempotencyKeys keys = IdempotencyKeys.builder(database).maxWait(Duration.ZERO).build();
    CountDownLatch inside = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    Running first =
        start(
            () ->
                keys.runOnce(
                    "key",
                    REQUEST,
                    connection -> {
                      pay(connection, "done");
                      inside.countDown();
                      awaitLatch(goOn);
                      return "done";
                    }));
    awaitLatch(inside);

    assertThatThrownBy(() -> keys.runOnce("key", REQUEST, c -> pay(c, "twice")))
        .isInstanceOfSatisfying(
            KeyInProgressException.class, busy -> assertThat(busy.key()).isEqualTo("key"))
        .hasMessageContaining("\"key\"");
    try (Connection connection = database.getConnection()) {
      connection.setAutoCommit(false);
      assertThatThrownBy(() -> keys.runOnce(connection, "key", REQUEST, c -> pay(c, "twice")))
          .isInstanceOf(KeyInProgressException.class);
      if (dialect != Dialect.SQLITE) {
        // The caller's transaction is where it was before the call, and can go on.
        pay(connection, "another payment");
        connection.commit();
        assertThat(payments(database)).isEqualTo(1);
      }
    }
    goOn.countDown();
    assertThat(first.get()).isEqualTo("done");
    assertThat(keys.runOnce("key", REQUEST, c -> pay(c, "twice"))).isEqualTo("done");
  }

  @ParameterizedTest
  @EnumSource
  void inTheCallersTransactionWorkAndResultStandOrFallWithIt(Dialect dialect) throws Exception {
    DataSource database = withTables(dialect);
    IdempotencyKeys keys = IdempotencyKeys.over(database);
    try (Connection connection = database.getConnection()) {
      connection.setAutoCommit(false);
      keys.runOnce(connection, "key", REQUEST, c -> pay(c, "lost"));
      connection.rollback();
      assertThat(payments(database)).isZero();

      pay(connection, "the caller's own");
      assertThatThrownBy(
              () ->
                  keys.runOnce(
                      connection,
                      "key",
                      REQUEST,
                      c -> {
                        pay(c, "lost");
                        throw new IOException("failed");
                      }))
          .isInstanceOf(IOException.class)
          .hasNoSuppressedExceptions();
      assertThat(keys.runOnce(connection, "key", REQUEST, c -> pay(c, "done"))).isEqualTo("done");
      assertThat(keys.runOnce(connection, "key", REQUEST, c -> pay(c, "no"))).isEqualTo("done");
      connection.commit();
    }
    assertThat(payments(database)).isEqualTo(2);
    assertThat(keys.runOnce("key", REQUEST, c -> pay(c, "no"))).isEqualTo("done");
  }

  @ParameterizedTest
  @EnumSource
  void workThatCallsForItsOwnKeyIsToldThatItIsInProgress(Dialect dialect) throws Exception {
    DataSource database = withTables(dialect);
    IdempotencyKeys keys = IdempotencyKeys.over(database);
    assertThatThrownBy(
            () ->
                keys.runOnce(
                    "key",
                    REQUEST,
                    connection ->
                        keys.runOnce(connection, "key", REQUEST, inner -> pay(inner, "no"))))
        .isInstanceOf(KeyInProgressException.class);
    assertThat(runs).hasValue(0);
  }

  @ParameterizedTest
  @EnumSource
  void resultIsForgottenAfterItsRetention(Dialect dialect) throws Exception {
    DataSource database = withTables(dialect);
    IdempotencyKeys keys = IdempotencyKeys.over(database);
    keys.runOnce("key", REQUEST, c -> pay(c, "first"));
    try (Connection connection = database.getConnection()) {
      connection.setAutoCommit(false);
      for (int i = 0; i < 501; i++) {
        keys.runOnce(connection, "key-" + i, REQUEST, c -> null);
      }
      connection.commit();
    }
    execute(database, "UPDATE lukko_idempotency SET expires_at = expires_at - 604800001");
    keys.runOnce("kept", REQUEST, c -> pay(c, "kept"));

    RequestFingerprint other = RequestFingerprint.of("other");
    assertThat(keys.runOnce("key", other, c -> pay(c, "second"))).isEqualTo("second");
    assertThat(keys.purge()).isEqualTo(501);
    assertThat(keys.purge()).isZero();
    assertThat(keys.runOnce("key", other, c -> pay(c, "third"))).isEqualTo("second");
    assertThat(keys.runOnce("kept", REQUEST, c -> pay(c, "again"))).isEqualTo("kept");
    assertThat(runs).hasValue(3);
  }

  @ParameterizedTest
  @EnumSource
  void boundOfTheWaitIsTakenBackBeforeTheWorkAndAfterIt(Dialect dialect) throws Exception {
    DataSource database = withTables(dialect);
    IdempotencyKeys keys = IdempotencyKeys.builder(database).maxWait(Duration.ofSeconds(7)).build();
    String query =
        switch (dialect) {
          case POSTGRES -> "SHOW lock_timeout";
          case MYSQL -> "SELECT @@innodb_lock_wait_timeout";
          case H2 -> "SELECT LOCK_TIMEOUT()";
          case SQLITE -> "PRAGMA busy_timeout";
        };
    try (Connection connection = database.getConnection()) {
      connection.setAutoCommit(false);
      String before = text(connection, query);
      assertThat(keys.runOnce(connection, "key", REQUEST, c -> text(c, query))).isEqualTo(before);
      assertThat(text(connection, query)).isEqualTo(before);
      connection.rollback();
    }
  }

  @ParameterizedTest
  @EnumSource
  void manyCallersOfManyKeysRunEachOnce(Dialect dialect) throws Exception {
    DataSource database = withTables(dialect);
    IdempotencyKeys keys = IdempotencyKeys.builder(database).maxWait(Duration.ofMinutes(1)).build();
    List<Running> callers = new ArrayList<>();
    for (int caller = 0; caller < 6; caller++) {
      String name = "caller-" + caller;
      callers.add(
          start(
              () -> {
                StringBuilder results = new StringBuilder();
                for (int i = 0; i < 25; i++) {
                  String key = "key-" + i;
                  results.append(keys.runOnce(key, REQUEST, c -> pay(c, name))).append(' ');
                }
                return results.toString();
              }));
    }
    String results = callers.get(0).get();
    for (Running caller : callers) {
      assertThat(caller.get()).isEqualTo(results);
    }
    assertThat(runs).hasValue(25);
    assertThat(payments(database)).isEqualTo(25);
  }

  @Test
  void badArgumentsAreRefusedByNameBeforeAnyStatement() throws Exception {
    DataSource database = EmptyDatabases.create(Dialect.H2);
    IdempotencyKeys keys = IdempotencyKeys.over(database);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> keys.runOnce("", REQUEST, c -> null))
        .withMessageContaining("key");
    try (Connection connection = database.getConnection()) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> keys.runOnce(connection, "key", REQUEST, c -> null))
          .withMessageContaining("autocommit");
    }
    IdempotencyKeys.Builder builder = IdempotencyKeys.builder(database);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> builder.maxWait(Duration.ofHours(2)))
        .withMessageContaining("maxWait");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> builder.retention(Duration.ofMillis(999)))
        .withMessageContaining("retention");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> builder.table("x y"))
        .withMessageContaining("table");
    assertThatIllegalArgumentException().isThrownBy(() -> new RequestFingerprint("abc"));
  }

  private String pay(Connection connection, String receipt) throws SQLException {
    runs.incrementAndGet();
    try (Statement statement = connection.createStatement()) {
      statement.execute("INSERT INTO payment VALUES (100)");
    }
    return receipt;
  }

  private static DataSource withTables(Dialect dialect) throws SQLException {
    DataSource database = EmptyDatabases.create(dialect);
    IdempotencyKeys keys = IdempotencyKeys.over(database);
    keys.createTable();
    keys.createTable();
    execute(database, "CREATE TABLE payment (amount INT)");
    return database;
  }

  private static void execute(DataSource database, String sql) throws SQLException {
    try (Connection connection = database.getConnection()) {
      DialectTraits.execute(connection, sql);
    }
  }

  private static long payments(DataSource database) throws SQLException {
    try (Connection connection = database.getConnection()) {
      return DialectTraits.number(connection, "SELECT COUNT(*) FROM payment");
    }
  }

  private static String text(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return row.getString(1);
    }
  }

  private static void awaitLatch(CountDownLatch latch) {
    try {
      assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException interrupted) {
      throw new AssertionError(interrupted);
    }
  }

  private static Running start(java.util.concurrent.Callable<String> call) {
    FutureTask<String> task = new FutureTask<>(call);
    Thread thread = new Thread(task, "caller");
    thread.setDaemon(true);
    thread.start();
    return new Running(thread, task);
  }

  private record Running(Thread thread, FutureTask<String> task) {
    String get() throws Exception {
      return task.get(60, TimeUnit.SECONDS);
    }
  }
}
