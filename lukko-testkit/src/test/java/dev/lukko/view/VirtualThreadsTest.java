package dev.lukko.view;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.lukko.LockClient;
import dev.lukko.LockRequest;
import dev.lukko.memory.InMemoryNode;
import dev.lukko.redlock.Redlock;
import dev.lukko.testkit.LockInvariants;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class VirtualThreadsTest {
  private static final int THREADS = 10_000;
  private static final int RESOURCES = 100;

  @RegisterExtension final LockInvariants invariants = new LockInvariants();

  @Test
  void tenThousandVirtualThreadsOnAHundredResourcesLoseNoIncrement() throws Exception {
    assumeTrue(Runtime.version().feature() >= 21, "virtual threads need Java 21");
    LockClient locks =
        invariants.client(
            Redlock.over(
                invariants.node(new InMemoryNode("a")),
                invariants.node(new InMemoryNode("b")),
                invariants.node(new InMemoryNode("c"))));
    int[] counters = new int[RESOURCES];
    ExecutorService threads =
        (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
    try {
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        int resource = i % RESOURCES;
        LockRequest request =
            LockRequest.builder("r" + resource)
                .ttl(Duration.ofSeconds(60))
                .maxWait(Duration.ofSeconds(90))
                .build();
        running.add(threads.submit(() -> locks.run(request, lease -> counters[resource]++)));
      }
      for (Future<?> each : running) {
        each.get(100, TimeUnit.SECONDS);
      }
    } finally {
      threads.shutdownNow();
    }
    assertThat(counters).containsOnly(THREADS / RESOURCES);
  }
}
