package dev.lukko.jdbc;

import static dev.lukko.jdbc.JdbcNodeContract.entry;
import static dev.lukko.jdbc.JdbcNodeContract.now;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lukko.Lease;
import dev.lukko.LockClient;
import dev.lukko.redlock.Redlock;
import dev.lukko.spi.Failed;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantReply.Granted;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.spi.Unknown;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What callers meet that run their statements themselves: errors, row locks, crowds, callbacks. */
class InCallerLimitsTest {
  private static final Duration TTL = Duration.ofMinutes(5);
  private static final long PATIENCE = Duration.ofSeconds(20).toNanos();

  private final Thread caller = Thread.currentThread();
  private final List<Thread> threads = new CopyOnWriteArrayList<>();
  private TestDatabase database;
  private Meddler meddler;
  private JdbcNode node;

  /** Calls of connections, before they are made. */
  private interface Meddler {
    void before(String method, Connection real) throws SQLException;
  }

  private void open(Dialect dialect, int connections) {
    database = Databases.of(dialect);
    database.createRow("r");
    node =
        JdbcNode.builder(meddled(database.source()))
            .name("n")
            .dialect(dialect)
            .requestTimeout(Duration.ofSeconds(30))
            .maxConnections(connections)
            .build();
  }

  @AfterEach
  void close() {
    meddler = null;
    node.close();
  }

  private DataSource meddled(DataSource real) {
    return proxy(
        DataSource.class,
        real,
        (method, result) ->
            result instanceof Connection connection ? connection(connection) : result,
        null);
  }

  private Connection connection(Connection real) {
    return proxy(
        Connection.class,
        real,
        (method, result) ->
            result instanceof PreparedStatement statement
                ? proxy(PreparedStatement.class, statement, (inner, answer) -> answer, real)
                : result,
        real);
  }

  private interface Wrap {
    Object result(String method, Object result);
  }

  private <T> T proxy(Class<T> type, T real, Wrap wrap, Connection connection) {
    return type.cast(
        Proxy.newProxyInstance(
            InCallerLimitsTest.class.getClassLoader(),
            new Class<?>[] {type},
            (self, method, arguments) -> {
              if (method.getName().startsWith("execute") && type == PreparedStatement.class) {
                threads.add(Thread.currentThread());
              }
              Meddler meddling = meddler;
              if (meddling != null) {
                meddling.before(method.getName(), connection);
              }
              try {
                return wrap.result(method.getName(), method.invoke(real, arguments));
              } catch (InvocationTargetException failure) {
                throw failure.getCause();
              }
            }));
  }

  private GrantReply grant(LockEntry entry) {
    return now(node.grantInCaller(new GrantRequest(entry, TTL.toMillis(), 1), PATIENCE));
  }

  private ReleaseReply release(LockEntry entry) {
    return now(node.releaseInCaller(entry, PATIENCE));
  }

  private void warmUp() {
    await()
        .pollInSameThread()
        .untilAsserted(
            () -> {
              threads.clear();
              assertThat(grant(entry("warm", "r"))).isInstanceOf(Granted.class);
              assertThat(release(entry("warm", "r"))).isInstanceOf(ReleaseReply.Released.class);
              assertThat(threads).containsOnly(caller);
            });
    threads.clear();
  }

  @ParameterizedTest
  @EnumSource(names = {"POSTGRES", "MYSQL"})
  void errorOfTheDriver_thatEvenItsCloseThrows_endsTheRequest_andCostsNoConnectionForGood(
      Dialect dialect) {
    open(dialect, 1);
    for (int i = 0; i < 3; i++) {
      warmUp();
      meddler =
          (method, real) -> {
            if (method.startsWith("execute") || method.equals("close")) {
              throw new NoClassDefFoundError("a class of the driver");
            }
          };
      LockEntry entry = entry("a" + i, "r");
      // Whether it was the request's own statement, or a check of the connection before it.
      assertThat(grant(entry)).isInstanceOfAny(Unknown.class, Failed.class);
      meddler = null;
      // The lane of the owner is free again, too.
      assertThat(release(entry)).isEqualTo(new ReleaseReply.NotHeld());
    }
    warmUp();
  }

  @Test
  void errorOfTheDataSource_endsTheRequest_andThoseBehindIt() {
    open(Dialect.POSTGRES, 1);
    node.close();
    AtomicBoolean broken = new AtomicBoolean(true);
    DataSource real = database.source();
    DataSource failing = proxy(DataSource.class, real, (method, result) -> result, null);
    meddler =
        (method, connection) -> {
          if (method.equals("getConnection") && broken.get()) {
            throw new NoClassDefFoundError("a class of the driver");
          }
        };
    node = JdbcNode.builder(failing).name("n").dialect(Dialect.POSTGRES).build();
    LockEntry entry = entry("a", "r");

    List<CompletableFuture<?>> replies = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      replies.add(node.grant(new GrantRequest(entry, TTL.toMillis(), 1)).toCompletableFuture());
      replies.add(node.release(entry).toCompletableFuture());
    }
    for (CompletableFuture<?> reply : replies) {
      assertThat(now(reply)).isInstanceOf(Failed.class);
    }
    broken.set(false);
    assertThat(now(node.grant(new GrantRequest(entry, TTL.toMillis(), 1))))
        .isInstanceOf(Granted.class);
    await().until(() -> node.keptReleases() == 0);
  }

  @ParameterizedTest
  @EnumSource(names = {"POSTGRES", "MYSQL"})
  void rowLockOfAnotherTransaction_letsTheCallerGo_andItsLateEntryIsGoneAfterwards(Dialect dialect)
      throws Exception {
    open(dialect, 2);
    warmUp();
    LockEntry entry = entry("a", "r");
    try (Connection other = database.source().getConnection()) {
      other.setAutoCommit(false);
      lockRow(other, "r");
      long patience = Duration.ofSeconds(3).toNanos();

      GrantReply reply =
          now(node.grantInCaller(new GrantRequest(entry, TTL.toMillis(), 1), patience));

      assertThat(reply).isInstanceOf(Unknown.class);
      assertThat(threads).containsOnly(caller);
      node.release(entry);
      other.rollback();
    }
    try (Connection behind = database.source().getConnection()) {
      lockRow(behind, "r"); // The statement that was left behind has got the row by now, or never.
    }
    await().until(() -> database.holders("r") == 0);
    warmUp();
  }

  private void lockRow(Connection connection, String name) throws SQLException {
    try (PreparedStatement lock =
        connection.prepareStatement("SELECT * FROM lukko_lock WHERE name = ? FOR UPDATE")) {
      database.dialect().traits().setText(lock, 1, name);
      lock.executeQuery();
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"POSTGRES", "MYSQL"})
  void answerInTheMomentOfTheTimeout_neverGivesAPoolAChangedConnection(Dialect dialect) {
    open(dialect, 1);
    warmUp();
    CountDownLatch expired = new CountDownLatch(1);
    CountDownLatch closed = new CountDownLatch(1);
    AtomicReference<Boolean> clean = new AtomicReference<>();
    meddler =
        (method, real) -> {
          if (method.startsWith("execute") && Thread.currentThread() == caller) {
            awaited(expired); // The timer fires now, and its abort comes a moment later.
          } else if (method.equals("abort") && Thread.currentThread() != caller) {
            expired.countDown();
            awaited(closed);
          } else if (method.equals("close") && real != null) {
            clean.compareAndSet(null, real.isClosed() || real.getNetworkTimeout() == 0);
            closed.countDown();
          }
        };

    GrantReply reply =
        now(
            node.grantInCaller(
                new GrantRequest(entry("a", "r"), TTL.toMillis(), 1),
                Duration.ofSeconds(3).toNanos()));

    assertThat(reply).isInstanceOf(Unknown.class);
    assertThat(clean.get()).isTrue();
    meddler = null;
    now(node.release(entry("a", "r")));
    await().until(() -> node.keptReleases() == 0);
    warmUp();
  }

  private static void awaited(CountDownLatch latch) {
    try {
      assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException interrupted) {
      throw new AssertionError(interrupted);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"POSTGRES", "MYSQL"})
  void crowdOfCallersOnOneConnection_allGetTheirTurn_andThePermitIsThereAfterwards(Dialect dialect)
      throws Exception {
    open(dialect, 1);
    warmUp();
    ExecutorService crowd = Executors.newFixedThreadPool(64);
    try (LockClient client = client()) {
      List<Future<?>> done = new ArrayList<>();
      for (int i = 0; i < 64; i++) {
        String resource = "name" + i % 40;
        done.add(
            crowd.submit(
                () -> {
                  for (int round = 0; round < 10; round++) {
                    try (Lease lease =
                        client.tryAcquire(resource, TTL, Duration.ofSeconds(60)).orElseThrow()) {
                      assertThat(lease.isValid()).isTrue();
                    }
                  }
                }));
      }
      for (Future<?> each : done) {
        each.get(120, TimeUnit.SECONDS);
      }
    } finally {
      crowd.shutdownNow();
    }
    await().until(node::isQuiet);
    assertThat(node.rememberedOwners()).isZero();
    warmUp();
  }

  @ParameterizedTest
  @EnumSource(names = {"POSTGRES", "MYSQL"})
  void requestOfSeveralStatements_hasOneLimitForAllOfThem(Dialect dialect) {
    open(dialect, 1);
    database.createRow("s");
    warmUp();
    List<Integer> limits = new ArrayList<>();
    meddler =
        (method, real) -> {
          if (real != null && method.startsWith("execute") || method.equals("commit")) {
            limits.add(real.getNetworkTimeout());
            long since = System.nanoTime();
            while (System.nanoTime() - since < 5_000_000) { // The answer takes at least that long.
              Thread.onSpinWait();
            }
          }
        };
    LockEntry both = LockEntry.exclusive(List.of("r", "s"), "mine");
    assertThat(grant(both)).isInstanceOf(Granted.class);
    meddler = null;
    assertThat(threads).containsOnly(caller);
    assertThat(limits).hasSizeGreaterThanOrEqualTo(3);
    assertThat(limits.get(0)).isLessThanOrEqualTo((int) (PATIENCE / 1_000_000));
    for (int i = 1; i < limits.size(); i++) {
      assertThat(limits.get(i)).as("limits %s", limits).isLessThanOrEqualTo(limits.get(i - 1) - 4);
    }
    assertThat(release(both)).isInstanceOf(ReleaseReply.Released.class);
    warmUp();
  }

  private LockClient client() {
    return Redlock.builder()
        .node(node)
        .nodeTimeout(Duration.ofSeconds(20))
        .quarantine(false)
        .closeNodes(false)
        .build();
  }

  @ParameterizedTest
  @EnumSource(names = {"POSTGRES", "MYSQL"})
  void callbackThatBlocksOnTheSameClient_withOneConnection_isServed(Dialect dialect) {
    open(dialect, 1);
    warmUp();
    try (LockClient client = client()) {
      for (int i = 0; i < 20; i++) {
        CompletableFuture<Boolean> nested =
            client
                .acquireAsync("outer", TTL)
                .thenApply(
                    outer -> {
                      try (Lease inner = client.acquire("inner", TTL)) {
                        return inner.isValid();
                      } finally {
                        outer.release();
                      }
                    });
        assertThat(nested).succeedsWithin(Duration.ofSeconds(60)).isEqualTo(true);
      }
    }
    warmUp();
  }

  @Test
  @EnabledForJreRange(min = JRE.JAVA_21)
  void virtualThread_leavesItToAWorker() throws Exception {
    open(Dialect.POSTGRES, 2);
    warmUp();
    ExecutorService virtual =
        (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
    try (LockClient client = client()) {
      for (int i = 0; i < 20; i++) {
        virtual.submit(() -> client.acquire("r", TTL).release()).get(60, TimeUnit.SECONDS);
      }
    } finally {
      virtual.shutdownNow();
    }
    assertThat(threads).isNotEmpty();
    assertThat(threads).allMatch(thread -> thread.getName().startsWith("lukko-jdbc-"));
  }
}
