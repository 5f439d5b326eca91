package dev.lukko.bench;

import dev.lukko.Lease;
import dev.lukko.LockClient;
import dev.lukko.LockRequest;
import dev.lukko.redis.RedisNode;
import dev.lukko.redlock.Redlock;
import dev.lukko.testkit.RedisServer;
import io.lettuce.core.RedisClient;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * 16 threads in 4 clients on one key of one server, 1 ms inside: hand-offs in a second, calls to
 * the server for each, and how evenly the threads were served; by hand with pub/sub, and by Lukko.
 */
final class HandOffBench {
  private static final int CLIENTS = 4;
  private static final int THREADS_PER_CLIENT = 4;
  private static final long INSIDE_NANOS = 1_000_000;
  private static final Pattern CALLS = Pattern.compile("cmdstat_([a-z]+):calls=(\\d+)");

  private HandOffBench() {}

  /** One way to lock, used by the threads of one client. */
  private interface Way extends AutoCloseable {
    void section(Runnable inside) throws Exception;

    /** The commands that this way sends, as the server names them. */
    Set<String> sent();

    @Override
    void close();
  }

  private interface WayFactory {
    Way open(RedisClient driver, String url) throws Exception;
  }

  static void run(PrintStream out, int slices, int seconds) throws Exception {
    out.printf(
        "%nHand-offs: %d threads in %d clients, one key, 1 ms inside%n",
        CLIENTS * THREADS_PER_CLIENT, CLIENTS);
    RedisClient driver = RedisClient.create();
    List<Measure> plain = new ArrayList<>();
    List<Measure> lukko = new ArrayList<>();
    List<Measure> fair = new ArrayList<>();
    try {
      measure(driver, HandOffBench::byHand, 2);
      measure(driver, HandOffBench::byLukko, 2);
      measure(driver, HandOffBench::byLukkoFairly, 2);
      for (int i = 0; i < slices; i++) {
        plain.add(measure(driver, HandOffBench::byHand, seconds));
        lukko.add(measure(driver, HandOffBench::byLukko, seconds));
        fair.add(measure(driver, HandOffBench::byLukkoFairly, seconds));
      }
    } finally {
      driver.shutdown();
    }
    Measure first = Measure.median(plain);
    print(out, "by hand: SET NX PX, pub/sub", first, first);
    print(out, "Lukko, with fencing token", Measure.median(lukko), first);
    print(out, "Lukko, fair(true)", Measure.median(fair), first);
  }

  private static void print(PrintStream out, String name, Measure measure, Measure first) {
    out.printf(
        Locale.ROOT,
        "  %-30s %7.0f /s  x %.2f   %.1f calls each   fairness %.2f%n",
        name,
        measure.handOffsPerSecond,
        measure.handOffsPerSecond / first.handOffsPerSecond,
        measure.callsEach,
        measure.fairness);
  }

  private static Way byHand(RedisClient driver, String url) {
    PlainWaiter waiter = new PlainWaiter(driver, url, "hand");
    return new Way() {
      @Override
      public void section(Runnable inside) throws InterruptedException {
        String value = waiter.acquire(10_000);
        inside.run();
        LockSupport.parkNanos(INSIDE_NANOS);
        waiter.release(value);
      }

      @Override
      public Set<String> sent() {
        return Set.of("set", "evalsha");
      }

      @Override
      public void close() {
        waiter.close();
      }
    };
  }

  private static Way byLukko(RedisClient driver, String url) {
    return byLukko(url, false);
  }

  private static Way byLukkoFairly(RedisClient driver, String url) {
    return byLukko(url, true);
  }

  private static Way byLukko(String url, boolean fair) {
    LockClient locks = Redlock.over(RedisNode.connect(url));
    LockRequest request =
        LockRequest.builder("lukko")
            .ttl(Duration.ofSeconds(10))
            .maxWait(LockRequest.FOREVER)
            .fair(fair)
            .build();
    return new Way() {
      @Override
      public void section(Runnable inside) {
        Lease lease = locks.acquire(request);
        inside.run();
        LockSupport.parkNanos(INSIDE_NANOS);
        lease.release();
      }

      @Override
      public Set<String> sent() {
        return Set.of("eval", "evalsha", "subscribe", "unsubscribe");
      }

      @Override
      public void close() {
        locks.close();
      }
    };
  }

  private static Measure measure(RedisClient driver, WayFactory factory, int seconds)
      throws Exception {
    List<Way> ways = new ArrayList<>();
    ExecutorService threads = Executors.newFixedThreadPool(CLIENTS * THREADS_PER_CLIENT);
    try (RedisServer server = RedisServer.builder().start()) {
      for (int i = 0; i < CLIENTS; i++) {
        ways.add(factory.open(driver, server.url()));
      }
      AtomicLongArray served = new AtomicLongArray(CLIENTS * THREADS_PER_CLIENT);
      CountDownLatch ready = new CountDownLatch(1);
      List<Future<?>> running = new ArrayList<>();
      long[] end = new long[1];
      HandOffs handOffs = new HandOffs();
      for (int i = 0; i < served.length(); i++) {
        int thread = i;
        Way way = ways.get(i / THREADS_PER_CLIENT);
        running.add(
            threads.submit(
                () -> {
                  ready.await();
                  while (System.nanoTime() - end[0] < 0) {
                    way.section(() -> handOffs.enter(thread));
                    served.incrementAndGet(thread);
                  }
                  return null;
                }));
      }
      long callsBefore = calls(server, ways.get(0).sent());
      long start = System.nanoTime();
      end[0] = start + seconds * 1_000_000_000L;
      ready.countDown();
      for (Future<?> each : running) {
        each.get();
      }
      double elapsed = (System.nanoTime() - start) / 1e9;
      return Measure.of(
          served, handOffs.count, calls(server, ways.get(0).sent()) - callsBefore, elapsed);
    } finally {
      threads.shutdownNow();
      ways.forEach(Way::close);
    }
  }

  /**
   * How many of the commands that this way sends itself have come; what scripts call is not asked.
   */
  private static long calls(RedisServer server, Set<String> sent) {
    long calls = 0;
    Matcher matcher = CALLS.matcher(String.valueOf(server.command("INFO", "commandstats")));
    while (matcher.find()) {
      if (sent.contains(matcher.group(1))) {
        calls += Long.parseLong(matcher.group(2));
      }
    }
    return calls;
  }

  /**
   * Counts how often the lock went to another thread than it came from. Guarded by the lock itself.
   */
  private static final class HandOffs {
    private volatile long count;
    private volatile int last = -1;

    @SuppressWarnings("NonAtomicVolatileUpdate") // One thread at a time is in here.
    void enter(int thread) {
      if (last != thread) {
        last = thread;
        count++;
      }
    }
  }

  private record Measure(double handOffsPerSecond, double callsEach, double fairness) {
    static Measure of(AtomicLongArray served, long handOffs, long calls, double seconds) {
      long[] counts = new long[served.length()];
      for (int i = 0; i < counts.length; i++) {
        counts[i] = served.get(i);
      }
      long least = Arrays.stream(counts).min().orElse(0);
      long most = Arrays.stream(counts).max().orElse(1);
      return new Measure(handOffs / seconds, (double) calls / handOffs, (double) least / most);
    }

    static Measure median(List<Measure> measures) {
      return new Measure(
          median(measures.stream().mapToDouble(Measure::handOffsPerSecond).toArray()),
          median(measures.stream().mapToDouble(Measure::callsEach).toArray()),
          median(measures.stream().mapToDouble(Measure::fairness).toArray()));
    }

    private static double median(double[] values) {
      Arrays.sort(values);
      return values[values.length / 2];
    }
  }
}
