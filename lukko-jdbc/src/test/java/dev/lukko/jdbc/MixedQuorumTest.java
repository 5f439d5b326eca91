package dev.lukko.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.Lease;
import dev.lukko.LockRequest;
import dev.lukko.memory.InMemoryNode;
import dev.lukko.redis.RedisNode;
import dev.lukko.redlock.Redlock;
import dev.lukko.spi.LockNode;
import dev.lukko.testkit.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Nodes of different kinds in one quorum. */
class MixedQuorumTest {
  private static final Duration TTL = Duration.ofSeconds(20);

  private final TestDatabase postgresA = Databases.postgres();
  private final TestDatabase postgresB = Databases.postgres();
  private final TestDatabase h2 = Databases.h2();

  private Redlock client(LockNode third) {
    return Redlock.builder()
        .node(postgresA.node().name("pg-a").build())
        .node(postgresB.node().name("pg-b").build())
        .node(third)
        .nodeTimeout(Duration.ofSeconds(10))
        .retryForever()
        .retryDelay(Duration.ofMillis(2))
        .retryJitter(Duration.ofMillis(5))
        .build();
  }

  @Test
  void twoClientsOfAMixedQuorum_excludeEachOther_andTokensRise() throws Exception {
    InMemoryNode memory = new InMemoryNode("memory");
    int[] counter = {0};
    List<Long> tokens = new ArrayList<>();
    ExecutorService pool = Executors.newFixedThreadPool(8);
    try (Redlock one = client(memory);
        Redlock two = client(memory)) {
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        Redlock client = i % 2 == 0 ? one : two;
        running.add(
            pool.submit(
                () -> {
                  for (int n = 0; n < 15; n++) {
                    try (Lease lease = client.acquire(request())) {
                      counter[0]++;
                      tokens.add(lease.fencingToken());
                    }
                  }
                }));
      }
      for (Future<?> task : running) {
        task.get(100, TimeUnit.SECONDS);
      }
    } finally {
      pool.shutdownNow();
    }
    assertThat(counter[0]).isEqualTo(120);
    assertThat(tokens).isSorted().doesNotHaveDuplicates();
  }

  @Test
  void twoDatabasesAndARedis_areAQuorum_andOneOfThemMayDie() throws Exception {
    try (RedisServer redis = RedisServer.start();
        Redlock locks = client(RedisNode.connect(redis.url()))) {
      long before;
      try (Lease lease = locks.acquire(request())) {
        before = lease.fencingToken();
        assertThat(postgresA.holders("r")).isEqualTo(1);
        assertThat(lease.extend(TTL)).isTrue();
      }
      postgresB.execute("DROP TABLE lukko_lock");
      try (Lease lease = locks.acquire(request())) {
        assertThat(lease.fencingToken()).isGreaterThan(before);
        assertThat(postgresA.holders("r")).isEqualTo(1);
        assertThat(locks.tryAcquire("r", TTL, Duration.ZERO)).isEmpty();
      }
      assertThat(postgresA.holders("r")).isZero();
    }
  }

  @Test
  void twoOfThreeKinds_areAQuorum() {
    JdbcNode embedded = h2.node().name("h2").build();
    try (Redlock locks = client(embedded)) {
      h2.execute("DROP TABLE lukko_lock");
      Optional<Lease> lease = locks.tryAcquire("r", TTL, Duration.ofSeconds(20));
      assertThat(lease).isPresent();
      assertThat(postgresA.holders("r")).isEqualTo(1);
      assertThat(postgresB.holders("r")).isEqualTo(1);
      lease.get().close();
      assertThat(postgresA.holders("r")).isZero();
    }
  }

  @Test
  void anOddNodeOutAhead_settlesOneTokenAboveAll() {
    JdbcNode embedded = h2.node().name("h2").build();
    try (Redlock locks = client(embedded)) {
      long ahead = System.currentTimeMillis() * 1_000 + 3_600_000_000L;
      locks.acquire(request()).close();
      postgresB.setCounter("r", Long.toString(ahead));

      Lease lease = locks.acquire(request());
      assertThat(lease.fencingToken()).isGreaterThan(0);
      long token = lease.fencingToken();
      lease.close();

      Lease next = locks.acquire(request());
      assertThat(next.fencingToken()).isGreaterThan(token);
      next.close();
    }
  }

  private static LockRequest request() {
    return LockRequest.builder("r").ttl(TTL).maxWait(Duration.ofSeconds(60)).build();
  }
}
