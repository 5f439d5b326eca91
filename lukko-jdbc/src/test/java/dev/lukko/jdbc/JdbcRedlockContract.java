package dev.lukko.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.Lease;
import dev.lukko.LockRequest;
import dev.lukko.redlock.Redlock;
import dev.lukko.time.Ticker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;

/** What users of the engine see of one database. */
abstract class JdbcRedlockContract {
  private static final Duration TTL = Duration.ofSeconds(20);
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  abstract TestDatabase database();

  /** Patient with a slow machine: what is tested here is not time. */
  private static Redlock over(JdbcNode... nodes) {
    return Redlock.builder()
        .nodes(List.of(nodes))
        .nodeTimeout(Duration.ofSeconds(10))
        .retryForever()
        .retryDelay(Duration.ofMillis(2))
        .retryJitter(Duration.ofMillis(5))
        .build();
  }

  private static void inThreads(int threads, Runnable task) {
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        running.add(pool.submit(task));
      }
      for (Future<?> one : running) {
        one.get(110, TimeUnit.SECONDS);
      }
    } catch (Exception failure) {
      throw new AssertionError(failure);
    } finally {
      pool.shutdownNow();
    }
  }

  private static LockRequest request(String... resources) {
    return LockRequest.builder(resources).ttl(TTL).maxWait(PATIENCE).build();
  }

  @Test
  void sixteenThreads_neverLoseAnIncrement_andTokensRise() {
    TestDatabase database = database();
    int[] counter = {0};
    List<Long> tokens = new ArrayList<>();
    JdbcNode first = database.node().name("first").requestTimeout(PATIENCE).build();
    try (Redlock lock = over(first)) {
      inThreads(
          16,
          () -> {
            for (int i = 0; i < 20; i++) {
              try (Lease lease = lock.acquire(request("counter"))) {
                counter[0]++;
                tokens.add(lease.fencingToken());
              }
            }
          });
    }
    assertThat(counter[0]).isEqualTo(320);
    assertThat(tokens).isSorted().doesNotHaveDuplicates().hasSize(320);
    assertThat(database.holders("counter")).isZero();
  }

  @Test
  void overlappingSetsOfResources_neverDeadlock_andExcludeEachOther() {
    TestDatabase database = database();
    int[] counters = new int[3];
    AtomicIntegerArray expected = new AtomicIntegerArray(3);
    JdbcNode node = database.node().name("sets").requestTimeout(PATIENCE).build();
    try (Redlock lock = over(node)) {
      int[][] sets = {{0, 1}, {1, 2}, {2, 0}, {0, 1, 2}, {1}};
      inThreads(
          8,
          () -> {
            for (int i = 0; i < 15; i++) {
              int[] set = sets[(int) ((Thread.currentThread().getId() + i) % sets.length)];
              String[] names = new String[set.length];
              for (int j = 0; j < set.length; j++) {
                names[j] = "set" + set[j];
              }
              try (Lease lease = lock.acquire(request(names))) {
                for (int index : set) {
                  counters[index]++; // Lost now and then if two are inside.
                  expected.incrementAndGet(index);
                }
                assertThat(lease.isValid()).isTrue();
              }
            }
          });
    }
    for (int i = 0; i < 3; i++) {
      assertThat(counters[i]).as("increments of set" + i).isEqualTo(expected.get(i)).isPositive();
      assertThat(database.holders("set" + i)).isZero();
    }
  }

  @Test
  void twoClientsOnTheSameNewResource_bothGetTheirTurn() {
    TestDatabase database = database();
    JdbcNode one = database.node().name("one").requestTimeout(PATIENCE).build();
    JdbcNode two = database.node().name("two").requestTimeout(PATIENCE).build();
    try (Redlock left = over(one);
        Redlock right = over(two)) {
      for (int i = 0; i < 20; i++) {
        String name = "fresh" + i;
        int[] counter = {0};
        Redlock[] clients = {left, right};
        inThreads(
            4,
            () -> {
              Redlock client = clients[(int) (Thread.currentThread().getId() % 2)];
              try (Lease lease = client.acquire(request(name))) {
                counter[0]++;
                lease.ensureValid();
              }
            });
        assertThat(counter[0]).isEqualTo(4);
      }
    }
  }

  @Test
  void clientsWhoseClocksAreThreeMinutesApart_areJudgedByTheDatabasesClockAlone() {
    TestDatabase database = database();
    JdbcNode onTime = database.node().name("on time").build();
    JdbcNode ahead = database.node().name("ahead").build(shifted(180));
    JdbcNode behind = database.node().name("behind").build(shifted(-180));
    try (Redlock a = over(onTime);
        Redlock b = client(ahead, shifted(180));
        Redlock c = client(behind, shifted(-180))) {
      Lease held = a.acquire("r", Duration.ofSeconds(30));
      assertThat(b.tryAcquire("r", Duration.ofSeconds(30), Duration.ZERO)).isEmpty();
      assertThat(c.tryAcquire("r", Duration.ofSeconds(30), Duration.ZERO)).isEmpty();
      long first = held.fencingToken();
      held.close();

      Lease second = b.acquire("r", Duration.ofSeconds(30));
      assertThat(a.tryAcquire("r", Duration.ofSeconds(30), Duration.ZERO)).isEmpty();
      assertThat(second.fencingToken()).isGreaterThan(first);
      second.close();

      Optional<Lease> third = c.tryAcquire("r", Duration.ofSeconds(30), Duration.ZERO);
      assertThat(third).isPresent();
      assertThat(third.get().fencingToken()).isGreaterThan(second.fencingToken());
      third.get().close();
    }
  }

  private static Redlock client(JdbcNode node, Ticker ticker) {
    return Redlock.builder().node(node).nodeTimeout(Duration.ofSeconds(10)).ticker(ticker).build();
  }

  private static Ticker shifted(long seconds) {
    Ticker system = Ticker.system();
    return new Ticker() {
      @Override
      public long nanoTime() {
        return system.nanoTime() + seconds * 1_000_000_000L;
      }

      @Override
      public long wallMicros() {
        return system.wallMicros() + seconds * 1_000_000L;
      }
    };
  }

  @Test
  void aStaleHoldersRelease_leavesTheOthersRow() {
    TestDatabase database = database();
    JdbcNode one = database.node().name("one").build();
    JdbcNode two = database.node().name("two").build();
    try (Redlock stale = over(one);
        Redlock fresh = over(two)) {
      Lease old = stale.acquire(request("r"));
      database.expire("r");
      Lease current = fresh.acquire(request("r"));
      assertThat(current.fencingToken()).isGreaterThan(old.fencingToken());

      old.release();

      assertThat(database.holders("r")).isEqualTo(1);
      assertThat(current.extend(TTL)).isTrue();
      assertThat(old.fencingToken()).isLessThan(current.fencingToken());
      current.close();
    }
  }
}
