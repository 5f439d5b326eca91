package dev.lukko.mongodb;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.Lease;
import dev.lukko.LockRequest;
import dev.lukko.redlock.Redlock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What users of the engine see of one MongoDB. */
class MongoRedlockTest {
  private static final Duration TTL = Duration.ofSeconds(20);
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private static TestMongo mongo;

  @BeforeAll
  static void start() {
    mongo = TestMongo.inProcess();
  }

  @AfterAll
  static void stop() {
    mongo.close();
  }

  @BeforeEach
  void empty() {
    mongo.forget();
  }

  private static MongoNode node() {
    return MongoNode.builder(mongo.url()).requestTimeout(PATIENCE).build();
  }

  /** Patient with a slow machine: what is tested here is not time. */
  private static Redlock client() {
    return Redlock.builder()
        .node(node())
        .nodeTimeout(Duration.ofSeconds(10))
        .retryForever()
        .retryDelay(Duration.ofMillis(2))
        .retryJitter(Duration.ofMillis(5))
        .build();
  }

  private static void inThreads(int threads, Runnable task) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        running.add(pool.submit(task));
      }
      for (Future<?> one : running) {
        one.get(110, TimeUnit.SECONDS);
      }
    } finally {
      pool.shutdownNow();
    }
  }

  private static LockRequest request(String... resources) {
    return LockRequest.builder(resources).ttl(TTL).maxWait(PATIENCE).build();
  }

  @Test
  void threadsOfTwoClientsNeverLoseAnIncrement_andTokensRise() throws Exception {
    int[] counter = {0};
    List<Long> tokens = new ArrayList<>();
    try (Redlock one = client();
        Redlock two = client()) {
      Redlock[] clients = {one, two};
      inThreads(
          8,
          () -> {
            Redlock locks = clients[(int) (Thread.currentThread().getId() % 2)];
            for (int i = 0; i < 20; i++) {
              try (Lease lease = locks.acquire(request("counter"))) {
                counter[0]++;
                tokens.add(lease.fencingToken());
              }
            }
          });
    }
    assertThat(counter[0]).isEqualTo(160);
    assertThat(tokens).isSorted().doesNotHaveDuplicates().hasSize(160);
    assertThat(mongo.document("counter").containsKey("holder")).isFalse();
  }

  @Test
  void overlappingSetsOfResourcesNeverDeadlock_andExcludeEachOther() throws Exception {
    int[] counters = new int[3];
    AtomicIntegerArray expected = new AtomicIntegerArray(3);
    try (Redlock one = client();
        Redlock two = client()) {
      Redlock[] clients = {one, two};
      int[][] sets = {{0, 1}, {1, 2}, {2, 0}, {0, 1, 2}, {1}};
      inThreads(
          6,
          () -> {
            long id = Thread.currentThread().getId();
            for (int i = 0; i < 15; i++) {
              int[] set = sets[(int) ((id + i) % sets.length)];
              String[] names = new String[set.length];
              for (int j = 0; j < set.length; j++) {
                names[j] = "set" + set[j];
              }
              try (Lease lease = clients[(int) (id % 2)].acquire(request(names))) {
                for (int index : set) {
                  counters[index]++; // Lost now and then if two are inside.
                  expected.incrementAndGet(index);
                }
                lease.ensureValid();
              }
            }
          });
    }
    for (int i = 0; i < 3; i++) {
      assertThat(counters[i]).as("increments of set" + i).isEqualTo(expected.get(i)).isPositive();
      assertThat(mongo.document("set" + i).containsKey("holder")).isFalse();
    }
  }

  @Test
  void readersThatComeAndGoDoNotKeepEachOtherFromIt() throws Exception {
    try (Redlock one = client();
        Redlock two = client()) {
      Redlock[] clients = {one, two};
      LockRequest read =
          LockRequest.builder("shared").ttl(TTL).shared(true).maxWait(PATIENCE).build();
      inThreads(
          16,
          () -> {
            for (int i = 0; i < 10; i++) {
              clients[(int) (Thread.currentThread().getId() % 2)].acquire(read).release();
            }
          });
      try (Lease writer = one.acquire(request("shared"))) {
        assertThat(writer.isValid()).isTrue();
      }
    }
    assertThat(mongo.document("shared").containsKey("holder")).isFalse();
  }
}
