package dev.lukko.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.Lease;
import dev.lukko.LockClient;
import dev.lukko.LockRequest;
import dev.lukko.memory.InMemoryNode;
import dev.lukko.redlock.Redlock;
import dev.lukko.spi.LockNode;
import dev.lukko.testkit.LockInvariants;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A9: one client for many threads. */
class SharedClientTest {
  private static final Duration TTL = Duration.ofSeconds(30);

  @RegisterExtension final LockInvariants invariants = new LockInvariants();

  /** Neither volatile nor atomic: the lock alone keeps it right. */
  private int counter;

  private long lastToken;

  @ParameterizedTest
  @CsvSource({"1, true", "3, true", "3, false"})
  void tenThreadsAndTenThousandSectionsLoseNoIncrement(int nodes, boolean hints) throws Exception {
    LockClient client = client(nodes, hints ? node -> node : PlainNode::new);
    LockRequest request = LockRequest.builder("r").ttl(TTL).maxWait(Duration.ofMinutes(2)).build();
    ExecutorService threads = Executors.newFixedThreadPool(10);
    try {
      List<Future<?>> work = new ArrayList<>();
      for (int thread = 0; thread < 10; thread++) {
        int way = thread;
        work.add(
            threads.submit(
                () -> {
                  for (int i = 0; i < 1_000; i++) {
                    section(client, request, (way + i) % 4);
                  }
                  return null;
                }));
      }
      for (Future<?> each : work) {
        each.get(100, TimeUnit.SECONDS);
      }
    } finally {
      threads.shutdownNow();
    }
    assertThat(counter).isEqualTo(10_000);
  }

  private void section(LockClient client, LockRequest request, int way) throws Exception {
    switch (way) {
      case 0 -> {
        try (Lease lease = client.acquire(request)) {
          increment(lease);
        }
      }
      case 1 -> client.run(request, this::increment);
      case 2 -> {
        try (Lease lease = client.acquireAsync(request).get(100, TimeUnit.SECONDS)) {
          increment(lease);
        }
      }
      default -> {
        try (Lease lease = client.tryAcquire(request).orElseThrow()) {
          increment(lease);
        }
      }
    }
  }

  private void increment(Lease lease) {
    counter++;
    assertThat(lease.fencingToken()).isGreaterThan(lastToken);
    lastToken = lease.fencingToken();
  }

  @Test
  void requestKeepsNoStateWhenAHundredThreadsUseIt() throws Exception {
    LockClient client = client(3, node -> node);
    LockRequest request =
        LockRequest.builder("r").ttl(TTL).maxWait(Duration.ofSeconds(60)).metadata("same").build();
    ExecutorService threads = Executors.newFixedThreadPool(100);
    try {
      List<Future<String>> owners = new ArrayList<>();
      for (int i = 0; i < 100; i++) {
        owners.add(threads.submit(() -> client.using(request, Lease::owner)));
      }
      List<String> seen = new ArrayList<>();
      for (Future<String> owner : owners) {
        seen.add(owner.get(100, TimeUnit.SECONDS));
      }
      assertThat(seen).doesNotHaveDuplicates();
    } finally {
      threads.shutdownNow();
    }
    assertThat(request.maxWait()).hasValue(Duration.ofSeconds(60));
  }

  private LockClient client(int nodes, UnaryOperator<LockNode> way) {
    List<LockNode> all = new ArrayList<>();
    for (int i = 1; i <= nodes; i++) {
      all.add(invariants.node(way.apply(new InMemoryNode("n" + i))));
    }
    return invariants.client(Redlock.builder().nodes(all).build());
  }
}
