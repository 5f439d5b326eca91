package dev.lukko.bench;

import dev.lukko.LockClient;
import dev.lukko.redis.RedisNode;
import dev.lukko.redlock.Redlock;
import dev.lukko.testkit.RedisServers;
import io.lettuce.core.RedisClient;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * One uncontended acquire and release: by hand and by Lukko, on one node, on five, and with two
 * lost.
 */
final class UncontendedBench {
  private static final Duration TTL = Duration.ofSeconds(30);

  private UncontendedBench() {}

  static void run(PrintStream out, int slices, int operations) throws Exception {
    RedisClient driver = RedisClient.create();
    try (RedisServers servers = RedisServers.start(5)) {
      List<String> urls = servers.urls();
      compare(out, driver, "one node", urls.subList(0, 1), slices, operations);
      compare(out, driver, "five nodes", urls, slices, operations);
      degraded(out, urls, servers, slices, operations);
    } finally {
      driver.shutdown();
    }
  }

  private static void compare(
      PrintStream out,
      RedisClient driver,
      String where,
      List<String> urls,
      int slices,
      int operations)
      throws Exception {
    try (PlainLock plain = new PlainLock(driver, urls);
        LockClient locks = client(urls)) {
      new SideBySide("Acquire and release, " + where, slices, operations)
          .subject("by hand: SET NX PX, compare-and-delete", () -> plain.cycle("hand", 30_000))
          .subject("Lukko, with fencing token", () -> locks.acquire("lukko", TTL).release())
          .run(out);
    }
  }

  private static void degraded(
      PrintStream out, List<String> urls, RedisServers servers, int slices, int operations)
      throws Exception {
    try (RedisServers healthy = RedisServers.start(5);
        LockClient before = client(healthy.urls());
        LockClient after = client(urls)) {
      after.acquire("lukko", TTL).release();
      servers.all().get(0).kill();
      servers.all().get(1).pause();
      new SideBySide("Acquire and release, one of five killed and one hung", slices, operations)
          .subject("five healthy nodes", () -> before.acquire("lukko", TTL).release())
          .subject("three of five left", () -> after.acquire("lukko", TTL).release())
          .run(out);
      servers.all().get(1).resume();
    }
  }

  private static LockClient client(List<String> urls) {
    List<RedisNode> nodes = new ArrayList<>(RedisNode.connectAll(urls.toArray(String[]::new)));
    return Redlock.builder().nodes(nodes).build();
  }
}
