package dev.lukko.bench;

import dev.lukko.Lease;
import dev.lukko.LockClient;
import dev.lukko.LockNotAcquiredException;
import dev.lukko.LockRequest;
import dev.lukko.redis.RedisNode;
import dev.lukko.redlock.Redlock;
import dev.lukko.spi.LockNode;
import dev.lukko.testkit.RedisServer;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * 64 threads in 8 clients on three servers, each taking and giving back a hold again and again:
 * shared holds of one name against exclusive holds of 64 names, in turns of one run.
 */
final class ReadersBench {
  private static final int CLIENTS = 8;
  private static final int THREADS_PER_CLIENT = 8;
  private static final int NODES = 3;

  private ReadersBench() {}

  static void run(PrintStream out, int slices, int seconds) throws Exception {
    out.printf(
        "%nReaders: %d threads in %d clients, %d nodes%n",
        CLIENTS * THREADS_PER_CLIENT, CLIENTS, NODES);
    List<RedisServer> servers = new ArrayList<>();
    List<LockClient> clients = new ArrayList<>();
    try {
      for (int i = 0; i < NODES; i++) {
        servers.add(RedisServer.builder().start());
      }
      for (int i = 0; i < CLIENTS; i++) {
        List<LockNode> nodes = new ArrayList<>();
        servers.forEach(server -> nodes.add(RedisNode.connect(server.url())));
        clients.add(Redlock.builder().nodes(nodes).build());
      }
      measure(clients, true, seconds);
      measure(clients, false, seconds);
      List<Measure> apart = new ArrayList<>();
      List<Measure> together = new ArrayList<>();
      for (int i = 0; i < slices; i++) {
        apart.add(measure(clients, false, seconds));
        together.add(measure(clients, true, seconds));
      }
      double first = median(apart);
      print(out, "exclusive holds of 64 names", apart, first);
      print(out, "shared holds of one name", together, first);
    } finally {
      clients.forEach(LockClient::close);
      servers.forEach(RedisServer::close);
    }
  }

  private static void print(PrintStream out, String name, List<Measure> measures, double first) {
    double median = median(measures);
    long failures = measures.stream().mapToLong(Measure::failures).sum();
    out.printf(
        Locale.ROOT,
        "  %-30s %8.0f /s  x %.2f   %d failed%n",
        name,
        median,
        median / first,
        failures);
  }

  private static double median(List<Measure> measures) {
    double[] rates = measures.stream().mapToDouble(Measure::perSecond).sorted().toArray();
    Arrays.sort(rates);
    return rates[rates.length / 2];
  }

  private static Measure measure(List<LockClient> clients, boolean shared, int seconds)
      throws Exception {
    LongAdder done = new LongAdder();
    LongAdder failed = new LongAdder();
    ExecutorService threads = Executors.newFixedThreadPool(CLIENTS * THREADS_PER_CLIENT);
    try {
      List<Future<?>> running = new ArrayList<>();
      long start = System.nanoTime();
      long end = start + seconds * 1_000_000_000L;
      for (int i = 0; i < CLIENTS * THREADS_PER_CLIENT; i++) {
        LockClient client = clients.get(i / THREADS_PER_CLIENT);
        LockRequest request =
            LockRequest.builder(shared ? "read" : "name-" + i)
                .ttl(Duration.ofSeconds(10))
                .maxWait(Duration.ZERO)
                .autoExtend(false)
                .shared(shared)
                .build();
        running.add(
            threads.submit(
                () -> {
                  while (System.nanoTime() - end < 0) {
                    Lease lease = tryAcquire(client, request);
                    if (lease == null) {
                      failed.increment();
                    } else {
                      lease.release();
                      done.increment();
                    }
                  }
                  return null;
                }));
      }
      for (Future<?> each : running) {
        each.get();
      }
      return new Measure(done.sum() / ((System.nanoTime() - start) / 1e9), failed.sum());
    } finally {
      threads.shutdownNow();
    }
  }

  private static @Nullable Lease tryAcquire(LockClient client, LockRequest request) {
    try {
      return client.acquire(request);
    } catch (LockNotAcquiredException failure) {
      return null;
    }
  }

  private record Measure(double perSecond, long failures) {}
}
