package dev.lukko.bench;

import dev.lukko.Lease;
import dev.lukko.LockClient;
import dev.lukko.LockRequest;
import dev.lukko.redis.RedisNode;
import dev.lukko.redlock.Redlock;
import dev.lukko.testkit.RedisServer;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;

/**
 * 10,000 leases held at a time with automatic extension: heap and threads, and none of them lost.
 */
final class HeldLeasesBench {
  private static final int LEASES = 10_000;
  private static final Duration TTL = Duration.ofSeconds(15);

  private HeldLeasesBench() {}

  static void run(PrintStream out) throws Exception {
    try (RedisServer server = RedisServer.builder().start();
        LockClient locks = Redlock.over(RedisNode.connect(server.url()))) {
      List<String> names = new ArrayList<>();
      for (int i = 0; i < LEASES; i++) {
        names.add("lease-" + i);
      }
      acquire(locks, names.subList(0, 100)).forEach(Lease::release); // classes, buffers, threads
      long heapBefore = usedHeap();
      int threadsBefore = Thread.activeCount();
      List<Lease> leases = acquire(locks, names);
      long heap = usedHeap() - heapBefore;
      int threads = Thread.activeCount() - threadsBefore;
      Thread.sleep(TTL.multipliedBy(2).toMillis());
      long valid = leases.stream().filter(Lease::isValid).count();
      leases.forEach(Lease::releaseAsync);
      out.printf(
          Locale.ROOT,
          "%n%d leases on automatic extension%n  %d bytes of heap each, %d threads more, %d still"
              + " valid after two ttls%n",
          LEASES,
          heap / LEASES,
          threads,
          valid);
    }
  }

  private static List<Lease> acquire(LockClient locks, List<String> names) {
    List<Lease> leases = new ArrayList<>();
    List<CompletableFuture<Lease>> asked = new ArrayList<>();
    for (String name : names) {
      asked.add(locks.acquireAsync(LockRequest.builder(name).ttl(TTL).autoExtend(true).build()));
      if (asked.size() == 500) {
        asked.forEach(future -> leases.add(future.join()));
        asked.clear();
      }
    }
    asked.forEach(future -> leases.add(future.join()));
    return leases;
  }

  private static long usedHeap() throws InterruptedException {
    for (int i = 0; i < 5; i++) {
      System.gc();
      Thread.sleep(100);
    }
    Runtime runtime = Runtime.getRuntime();
    return runtime.totalMemory() - runtime.freeMemory();
  }
}
