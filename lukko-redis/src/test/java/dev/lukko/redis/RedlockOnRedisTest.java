package dev.lukko.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.lukko.Lease;
import dev.lukko.LockRequest;
import dev.lukko.QuorumUnavailableException;
import dev.lukko.redlock.Redlock;
import dev.lukko.testkit.FaultProxy;
import dev.lukko.testkit.RedisServer;
import dev.lukko.testkit.RedisServers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The engine over five real servers, each behind a proxy. */
class RedlockOnRedisTest {
  private static final Duration TTL = Duration.ofSeconds(20);
  private static final int THREADS = 8;
  private static final int ROUNDS = 40;

  private final List<FaultProxy> proxies = new ArrayList<>();
  private RedisServers servers;
  private Redlock client;

  @BeforeEach
  void start() {
    servers = RedisServers.start(5);
    servers.all().forEach(server -> proxies.add(FaultProxy.to(server)));
    String[] urls = proxies.stream().map(proxy -> proxy.url("redis")).toArray(String[]::new);
    client = Redlock.builder().nodes(RedisNode.connectAll(urls)).closeNodes(true).build();
  }

  @AfterEach
  void stop() {
    client.close();
    proxies.forEach(FaultProxy::close);
    servers.close();
  }

  @Test
  void unprotectedCounterLosesNothingAndTokensRise() throws Exception {
    assertMutualExclusionAndRisingTokens(() -> {});
    awaitNoEntryLeft(servers.all());
  }

  @Test
  void connectionsThatAreResetAllTheTimeBreakNothing() throws Exception {
    int[] next = {0};
    assertMutualExclusionAndRisingTokens(
        () -> {
          // one in seven sections, one node after the other, while others are waiting
          if (next[0]++ % 7 == 0) {
            proxies.get(next[0] % 5).resetConnections();
          }
        });
    awaitNoEntryLeft(servers.all());
  }

  @Test
  void minorityKilledIsNoObstacleMajorityIsReported() {
    servers.get(0).kill();
    servers.get(3).kill();
    client.acquire("r", TTL).close();
    servers.get(1).kill();
    assertThatThrownBy(() -> client.acquire("r", TTL))
        .isInstanceOf(QuorumUnavailableException.class)
        .hasMessageContaining("127.0.0.1:" + proxies.get(0).port())
        .hasMessageContaining("127.0.0.1:" + proxies.get(1).port())
        .hasMessageContaining("127.0.0.1:" + proxies.get(3).port());
  }

  @Test
  void stoppedMinorityHasNothingLeftOnceItWakes() {
    client.acquire("warm", TTL).close();
    servers.get(2).pause();
    servers.get(4).pause();
    for (int i = 0; i < 10; i++) {
      client.acquire("r" + i, TTL).close();
    }
    servers.get(2).resume();
    servers.get(4).resume();
    awaitNoEntryLeft(servers.all());
  }

  private void assertMutualExclusionAndRisingTokens(Runnable inEachSection) throws Exception {
    int[] counter = {0};
    List<Long> tokens = new ArrayList<>(); // guarded by the lock under test alone
    LockRequest request =
        LockRequest.builder("r")
            .ttl(TTL)
            .maxWait(Duration.ofSeconds(60))
            .waitForQuorum(true)
            .build();
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    try {
      List<CompletableFuture<Void>> workers = new ArrayList<>();
      for (int t = 0; t < THREADS; t++) {
        workers.add(
            CompletableFuture.runAsync(
                () -> {
                  for (int i = 0; i < ROUNDS; i++) {
                    try (Lease lease = client.acquire(request)) {
                      int seen = counter[0];
                      tokens.add(lease.fencingToken());
                      inEachSection.run();
                      counter[0] = seen + 1;
                    }
                  }
                },
                threads));
      }
      for (CompletableFuture<Void> worker : workers) {
        assertThat(worker).succeedsWithin(Duration.ofSeconds(100));
      }
    } finally {
      threads.shutdownNow();
    }
    assertThat(counter[0]).isEqualTo(THREADS * ROUNDS);
    assertThat(tokens).hasSize(THREADS * ROUNDS).isSorted().doesNotHaveDuplicates();
  }

  private static void awaitNoEntryLeft(List<RedisServer> servers) {
    for (RedisServer server : servers) {
      await()
          .untilAsserted(
              () ->
                  assertThat((List<?>) server.command("KEYS", "*"))
                      .allMatch(key -> key.toString().matches(".*(:token|\u0001fleets)")));
    }
  }
}
