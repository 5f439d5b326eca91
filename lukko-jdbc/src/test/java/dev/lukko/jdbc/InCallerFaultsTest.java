package dev.lukko.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lukko.Lease;
import dev.lukko.LockClient;
import dev.lukko.LockException;
import dev.lukko.QuorumUnavailableException;
import dev.lukko.ReleaseOutcome;
import dev.lukko.redlock.Redlock;
import dev.lukko.testkit.FaultProxy;
import dev.lukko.testkit.FaultProxy.Direction;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A server that falls silent while a caller's own thread waits for it. The request timeout is so
 * long that only the caller's patience can end the wait within the time that the tests have.
 */
class InCallerFaultsTest {
  private static final Duration TTL = Duration.ofMinutes(10);
  private static final Duration SHORT_TTL = Duration.ofSeconds(5);
  private static final Duration NODE_TIMEOUT = Duration.ofSeconds(2);
  private static final Duration REQUEST_TIMEOUT = Duration.ofMinutes(4);
  private static final Pattern SERVER = Pattern.compile("//(?:localhost|127\\.0\\.0\\.1):(\\d+)/");

  private final List<Thread> threads = new CopyOnWriteArrayList<>();
  private final ExecutorService callers = Executors.newSingleThreadExecutor();
  private TestDatabase database;
  private FaultProxy proxy;
  private ScriptedSource source;
  private JdbcNode node;
  private LockClient client;

  private void open(Dialect dialect, Duration nodeTimeout) throws Exception {
    open(dialect, nodeTimeout, REQUEST_TIMEOUT);
  }

  private void open(Dialect dialect, Duration nodeTimeout, Duration requestTimeout)
      throws Exception {
    database = Databases.of(dialect);
    database.createRow("r");
    String direct;
    try (Connection connection = database.source().getConnection()) {
      direct = connection.getMetaData().getURL();
    }
    Matcher matcher = SERVER.matcher(direct);
    assertThat(matcher.find()).isTrue();
    int port = Integer.parseInt(matcher.group(1));
    proxy = FaultProxy.to(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    String url = matcher.replaceFirst("//127.0.0.1:" + proxy.port() + "/");
    source = new ScriptedSource(DriverDataSource.of(url));
    source.failWith(
        sql -> {
          threads.add(Thread.currentThread());
          return null;
        });
    node = JdbcNode.builder(source.source()).name("proxied").requestTimeout(requestTimeout).build();
    client =
        Redlock.builder()
            .node(node)
            .nodeTimeout(nodeTimeout)
            .quarantine(false)
            .closeNodes(false)
            .build();
  }

  @AfterEach
  void close() {
    callers.shutdownNow();
    proxy.heal();
    client.close();
    node.close();
    proxy.close();
  }

  private <T> T inCaller(Callable<T> call) throws Exception {
    return callers.submit(call).get(60, TimeUnit.SECONDS);
  }

  private Thread warmUp() throws Exception {
    Thread caller = inCaller(Thread::currentThread);
    await()
        .untilAsserted(
            () -> {
              threads.clear();
              inCaller(() -> client.acquire("r", TTL).release());
              assertThat(threads).containsOnly(caller);
            });
    threads.clear();
    return caller;
  }

  private Exception failureOf(Callable<?> call) throws Exception {
    return inCaller(
        () -> {
          try {
            call.call();
            return null;
          } catch (LockException expected) {
            return expected;
          }
        });
  }

  @ParameterizedTest
  @EnumSource(names = {"POSTGRES", "MYSQL"})
  void serverThatHangs_letsGoABlockingAcquire_andItsEntryIsGoneAfterwards(Dialect dialect)
      throws Exception {
    open(dialect, NODE_TIMEOUT);
    Thread caller = warmUp();
    proxy.hold(Direction.TO_CLIENT); // The statement arrives, its answer does not.

    Exception failure = failureOf(() -> client.tryAcquire("r", TTL));

    assertThat(failure).isInstanceOf(QuorumUnavailableException.class);
    assertThat(threads).first().isSameAs(caller);
    await().until(() -> database.counter("r") > 0);
    proxy.heal();
    await().until(() -> database.holders("r") == 0 && node.keptReleases() == 0);
    assertThat(node.rememberedOwners()).isZero();
    assertThat(source.mostOpen.get()).isLessThanOrEqualTo(4);
    warmUp();
  }

  @ParameterizedTest
  @EnumSource(names = {"POSTGRES", "MYSQL"})
  void serverThatHangs_letsGoABlockingRelease_andTheEntryIsGoneAfterwards(Dialect dialect)
      throws Exception {
    open(dialect, NODE_TIMEOUT);
    Thread caller = warmUp();
    Lease lease = inCaller(() -> client.acquire("r", TTL));
    threads.clear();
    proxy.hold();

    ReleaseOutcome outcome = inCaller(lease::release);

    assertThat(outcome.status()).isEqualTo(ReleaseOutcome.Status.UNKNOWN);
    assertThat(threads).first().isSameAs(caller);
    proxy.heal();
    await().until(() -> database.holders("r") == 0 && node.keptReleases() == 0);
    warmUp();
  }

  @Test
  void closeWhileACallerIsInside_letsItGo_uninterrupted_andLeavesNoThreadAndNoConnection()
      throws Exception {
    open(Dialect.POSTGRES, Duration.ofMinutes(3));
    Thread caller = warmUp();
    proxy.hold();
    Future<Boolean> inside =
        callers.submit(
            () -> {
              try {
                client.acquire("r", TTL);
                return null;
              } catch (LockException expected) {
                return Thread.currentThread().isInterrupted();
              }
            });
    await().until(() -> threads.contains(caller));

    node.close();

    assertThat(inside.get(60, TimeUnit.SECONDS)).isFalse();
    await().untilAsserted(() -> assertThat(Threads.ofNodes()).isEmpty());
    await().until(() -> source.open.get() == 0);
  }

  @Test
  void callersThreadOfAServerThatHangs_isFreeForOtherWork_beforeItIsBack() throws Exception {
    open(Dialect.POSTGRES, NODE_TIMEOUT);
    warmUp();
    proxy.hold();
    failureOf(() -> client.tryAcquire("r", TTL));
    threads.clear();

    // The second call knows better than to lose another connection.
    failureOf(() -> client.tryAcquire("r", TTL));

    assertThat(threads).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(names = {"POSTGRES", "MYSQL"})
  void callersUnderFaultsAndInterrupts_loseNoConnection_andLeaveNothing(Dialect dialect)
      throws Exception {
    open(dialect, Duration.ofMillis(200), Duration.ofMillis(600));
    List<AtomicInteger> holders =
        Stream.generate(AtomicInteger::new).limit(6).toList(); // By the number of the resource.
    for (int i = 0; i < holders.size(); i++) {
      database.createRow("name" + i);
    }
    AtomicInteger broken = new AtomicInteger();
    AtomicInteger cycles = new AtomicInteger();
    AtomicBoolean over = new AtomicBoolean();
    List<Thread> crowd = new ArrayList<>();
    List<Throwable> failures = new CopyOnWriteArrayList<>();
    for (int i = 0; i < 16; i++) {
      Runnable work = () -> contend(holders, cycles, broken, over);
      Thread thread = new Thread(work, "crowd-" + i);
      thread.setUncaughtExceptionHandler((dead, failure) -> failures.add(failure));
      crowd.add(thread);
    }
    crowd.forEach(Thread::start);
    Random random = new Random(7);
    Direction[] directions = Direction.values();
    for (int fault = 0; fault < 12; fault++) {
      int before = cycles.get();
      await().until(() -> cycles.get() > before + 40 || !failures.isEmpty());
      crowd.get(random.nextInt(crowd.size())).interrupt();
      proxy.hold(directions[random.nextInt(directions.length)]);
      int lost = broken.get();
      await().until(() -> broken.get() > lost + 3 || !failures.isEmpty());
      crowd.get(random.nextInt(crowd.size())).interrupt();
      proxy.heal();
    }
    over.set(true);
    for (Thread thread : crowd) {
      thread.join(60_000);
      assertThat(thread.isAlive()).as(thread.getName()).isFalse();
    }

    assertThat(failures).isEmpty();
    // A grant in doubt is watched until its entry must have expired.
    await().atMost(Duration.ofSeconds(60)).until(() -> node.keptReleases() == 0);
    await().until(node::isQuiet);
    for (int i = 0; i < holders.size(); i++) {
      assertThat(database.holders("name" + i)).as("name" + i).isZero();
    }
    assertThat(source.mostOpen.get()).isLessThanOrEqualTo(5); // One of them listens.
  }

  private void contend(
      List<AtomicInteger> holders, AtomicInteger cycles, AtomicInteger broken, AtomicBoolean over) {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    while (!over.get()) {
      int number = random.nextInt(holders.size());
      try {
        Lease lease =
            client.tryAcquire("name" + number, SHORT_TTL, Duration.ofMillis(50)).orElse(null);
        if (lease != null) {
          assertThat(holders.get(number).incrementAndGet()).isEqualTo(1);
          holders.get(number).decrementAndGet();
          lease.release();
          cycles.incrementAndGet();
        }
      } catch (LockException expected) {
        broken.incrementAndGet();
        Thread.interrupted();
      }
    }
  }
}
