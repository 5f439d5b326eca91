package dev.lukko.jdbc;

import static dev.lukko.jdbc.JdbcNodeContract.entry;
import static dev.lukko.jdbc.JdbcNodeContract.now;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lukko.Lease;
import dev.lukko.redlock.Redlock;
import dev.lukko.spi.Failed;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantReply.Granted;
import dev.lukko.spi.GrantRequest;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The node's connections: own ones, few, at READ COMMITTED, given back as they were. */
class OwnConnectionsTest {
  private static final long TTL = 60_000;

  private static GrantRequest request(String owner, String resource) {
    return new GrantRequest(entry(owner, resource), TTL, 1);
  }

  @Test
  void databaseThatIsSerializableByDefault_isWorkedAtReadCommitted_byManyAtOnce() {
    TestDatabase database = Databases.postgres();
    ScriptedSource source = new ScriptedSource(database.source());
    String name;
    try (Connection connection = database.source().getConnection()) {
      name = connection.getCatalog();
    } catch (SQLException failure) {
      throw new AssertionError(failure);
    }
    database.execute(
        "ALTER DATABASE " + name + " SET default_transaction_isolation = serializable");
    JdbcNode node =
        JdbcNode.builder(source.source())
            .name("n")
            .maxConnections(8)
            .requestTimeout(Duration.ofSeconds(30))
            .build();
    try (node) {
      List<CompletionStage<GrantReply>> replies = new ArrayList<>();
      for (int i = 0; i < 200; i++) {
        replies.add(node.grant(request("owner" + i, "r" + i % 20)));
      }
      long granted = replies.stream().filter(reply -> now(reply) instanceof Granted).count();
      assertThat(granted).isEqualTo(20);
      assertThat(replies).noneMatch(reply -> now(reply) instanceof Failed);
      for (Connection connection : source.connections) {
        assertThat(isolation(connection)).isEqualTo(Connection.TRANSACTION_READ_COMMITTED);
      }
    }
  }

  private static int isolation(Connection connection) {
    try {
      return connection.isClosed()
          ? Connection.TRANSACTION_READ_COMMITTED
          : connection.getTransactionIsolation();
    } catch (SQLException failure) {
      throw new AssertionError(failure);
    }
  }

  @Test
  void lockTakenInsideACallersTransaction_isVisibleAtOnce_andSurvivesItsRollback()
      throws SQLException {
    TestDatabase database = Databases.postgres();
    try (JdbcNode node = database.node().name("n").build();
        Connection callers = database.source().getConnection()) {
      callers.setAutoCommit(false);
      DialectTraits.number(callers, "SELECT count(*) FROM lukko_lock");
      now(node.grant(request("a", "r")));
      assertThat(database.holders("r")).isEqualTo(1);
      callers.rollback();
      assertThat(database.holders("r")).isEqualTo(1);
    }
  }

  /** What a pool's or an application's initial statement may have set. */
  private static void setAsAPoolMay(Dialect dialect, Connection connection) throws SQLException {
    switch (dialect) {
      case POSTGRES ->
          DialectTraits.execute(
              connection,
              "SET statement_timeout = '30s'; SET idle_in_transaction_session_timeout = '60s'");
      case MYSQL ->
          DialectTraits.execute(
              connection, "SET SESSION innodb_lock_wait_timeout = 7, SESSION wait_timeout = 600");
      case H2 -> DialectTraits.execute(connection, "SET LOCK_TIMEOUT 1234");
      case SQLITE -> DialectTraits.execute(connection, "PRAGMA busy_timeout = 777");
    }
  }

  /** All settings of a session that can be read. */
  private static List<String> settings(Dialect dialect, Connection connection) throws SQLException {
    return switch (dialect) {
      case POSTGRES ->
          DialectTraits.texts(
              connection, "SELECT name || '=' || setting FROM pg_settings ORDER BY name");
      case MYSQL ->
          DialectTraits.texts(
              connection,
              "SELECT CONCAT(VARIABLE_NAME, '=', VARIABLE_VALUE)"
                  + " FROM information_schema.SESSION_VARIABLES"
                  + " WHERE VARIABLE_NAME NOT IN ('TIMESTAMP', 'RAND_SEED1', 'RAND_SEED2')"
                  + " AND VARIABLE_NAME NOT LIKE 'GTID%' AND VARIABLE_NAME NOT LIKE '%LAST%'"
                  + " AND VARIABLE_NAME NOT LIKE 'IN_TRANSACTION' ORDER BY 1");
      case H2 -> DialectTraits.texts(connection, "SELECT 'lock timeout ' || LOCK_TIMEOUT()");
      case SQLITE -> DialectTraits.texts(connection, "PRAGMA busy_timeout");
    };
  }

  @ParameterizedTest
  @EnumSource
  void connectionsOfAPool_goBackAsTheyCame(Dialect dialect) throws SQLException {
    TestDatabase database = Databases.of(dialect);
    for (boolean set : new boolean[] {false, true}) {
      try (Connection pooled = database.source().getConnection()) {
        if (set) {
          setAsAPoolMay(dialect, pooled);
        }
        if (dialect != Dialect.SQLITE) {
          pooled.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
        }
        List<String> before = settings(dialect, pooled);
        pooled.setAutoCommit(false);
        int isolation = pooled.getTransactionIsolation();
        Session session =
            Session.open(
                pooledOnce(pooled), new Statements(dialect.traits()), Runnable::run, 2_000, 30_000);
        assertThat(pooled.getAutoCommit()).isTrue();
        assertThat(settings(dialect, pooled)).as("ours").isNotEqualTo(before);
        session.close();

        assertThat(pooled.getAutoCommit()).isFalse();
        assertThat(pooled.getTransactionIsolation()).isEqualTo(isolation);
        assertThat(pooled.getNetworkTimeout()).isZero();
        pooled.rollback();
        pooled.setAutoCommit(true);
        assertThat(settings(dialect, pooled)).isEqualTo(before);
      }
    }
  }

  @Test
  void settingThatBelongsToAPostgresUser_staysTheUsers_andIsNotNailedToTheSession()
      throws SQLException {
    TestDatabase database = Databases.postgres();
    try (Connection connection = database.source().getConnection()) {
      String name = connection.getCatalog();
      DialectTraits.execute(
          connection, "ALTER DATABASE " + name + " SET statement_timeout = '41s'");
    }
    try (Connection pooled = database.source().getConnection()) {
      Session.open(
              pooledOnce(pooled),
              new Statements(Dialect.POSTGRES.traits()),
              Runnable::run,
              2_000,
              30_000)
          .close();
      assertThat(
              DialectTraits.texts(
                  pooled,
                  "SELECT source || ' ' || setting FROM pg_settings"
                      + " WHERE name = 'statement_timeout'"))
          .containsExactly("database 41000");
    }
  }

  /** The connection as a pool hands it out: closing it gives it back. */
  static Connection pooledOnce(Connection real) {
    return (Connection)
        java.lang.reflect.Proxy.newProxyInstance(
            OwnConnectionsTest.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (self, method, arguments) -> {
              try {
                return method.getName().equals("close") ? null : method.invoke(real, arguments);
              } catch (java.lang.reflect.InvocationTargetException failure) {
                throw failure.getCause();
              }
            });
  }

  @Test
  void manyRequests_useNoMoreConnectionsThanAllowed_andOneIsEnoughForOneCaller() {
    TestDatabase database = Databases.h2();
    ScriptedSource source = new ScriptedSource(database.source());
    try (JdbcNode node = JdbcNode.builder(source.source()).name("n").maxConnections(3).build()) {
      for (int i = 0; i < 50; i++) {
        now(node.grant(request("a" + i, "r" + i)));
      }
      assertThat(source.mostOpen).hasValue(1);
      List<CompletionStage<GrantReply>> replies = new ArrayList<>();
      for (int i = 0; i < 200; i++) {
        replies.add(node.grant(request("b" + i, "s" + i)));
      }
      replies.forEach(reply -> assertThat(now(reply)).isInstanceOf(Granted.class));
      assertThat(source.mostOpen.get()).isBetween(1, 3);
    }
    await().untilAsserted(() -> assertThat(source.open).hasValue(0));
  }

  @Test
  void idleConnections_areClosed() {
    TestDatabase database = Databases.h2();
    ScriptedSource source = new ScriptedSource(database.source());
    JdbcNode node =
        JdbcNode.builder(source.source()).name("n").idleTimeout(Duration.ofSeconds(1)).build();
    try (node) {
      now(node.grant(request("a", "r")));
      await().untilAsserted(() -> assertThat(source.open).hasValue(0));
      assertThat(now(node.grant(request("a", "r")))).isEqualTo(new Granted(1));
    }
  }

  @Test
  void applicationsPoolIsExhausted_acquireEndsInTime_andAnOwnSourceIsUnaffected() throws Exception {
    TestDatabase database = Databases.postgres();
    Semaphore pool = new Semaphore(10);
    ScriptedSource own = new ScriptedSource(database.source());
    javax.sql.DataSource bounded =
        (javax.sql.DataSource)
            java.lang.reflect.Proxy.newProxyInstance(
                OwnConnectionsTest.class.getClassLoader(),
                new Class<?>[] {javax.sql.DataSource.class},
                (self, method, arguments) -> {
                  pool.acquire();
                  return method.invoke(database.source(), arguments);
                });
    JdbcNode shared =
        JdbcNode.builder(bounded)
            .name("shared")
            .dialect(Dialect.POSTGRES)
            .requestTimeout(Duration.ofMillis(300))
            .build();
    JdbcNode separate = JdbcNode.builder(own.source()).name("separate").build();
    try (Redlock onShared = Redlock.over(shared);
        Redlock onSeparate = Redlock.over(separate)) {
      pool.drainPermits(); // Ten holders, each with its connection, each in want of a second one.
      ExecutorService holders = Executors.newFixedThreadPool(10);
      try {
        List<Future<Boolean>> taken = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
          String resource = "r" + i;
          taken.add(
              holders.submit(
                  () -> {
                    try (Lease lease = onSeparate.acquire(resource, Duration.ofSeconds(20))) {
                      return lease.isValid();
                    }
                  }));
        }
        for (Future<Boolean> one : taken) {
          assertThat(one.get(60, TimeUnit.SECONDS)).isTrue();
        }
      } finally {
        holders.shutdownNow();
      }
      // The first connection is the node's own already; more than one request wants a second one.
      List<CompletionStage<GrantReply>> replies = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        replies.add(shared.grant(request("a" + i, "s" + i)));
      }
      for (CompletionStage<GrantReply> reply : replies) {
        assertThat(now(reply)).isInstanceOfAny(Granted.class, Failed.class);
      }
      Optional<Lease> lease =
          onShared.tryAcquire("t", Duration.ofSeconds(20), Duration.ofSeconds(1));
      lease.ifPresent(Lease::close);
      pool.release(100);
    }
  }
}
