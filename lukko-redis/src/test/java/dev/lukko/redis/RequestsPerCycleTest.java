package dev.lukko.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.LockClient;
import dev.lukko.redlock.Redlock;
import dev.lukko.testkit.RedisServer;
import dev.lukko.testkit.RedisServers;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** What a cycle on five healthy nodes costs that nobody else uses: ten requests. */
class RequestsPerCycleTest {
  private static final int CYCLES = 3_000;
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final Pattern SCRIPTS = Pattern.compile("cmdstat_evalsha:calls=(\\d+)");

  @Test
  void cycleOnFiveNodesIsFiveGrantsAndFiveReleases() {
    try (RedisServers servers = RedisServers.start(5)) {
      List<RedisNode> nodes = RedisNode.connectAll(servers.urls().toArray(String[]::new));
      try (LockClient locks = Redlock.builder().nodes(nodes).build()) {
        locks.acquire("first", TTL).release(); // what a new deployment costs besides
      }
      nodes = RedisNode.connectAll(servers.urls().toArray(String[]::new));
      try (LockClient locks = Redlock.builder().nodes(nodes).build()) {
        locks.acquire("warm", TTL).release();
        long before = scripts(servers);
        for (int i = 0; i < CYCLES; i++) {
          locks.acquire("r", TTL).release();
        }
        locks.close(); // waits for the last releases
        double requests = (scripts(servers) - before) / (double) CYCLES;
        System.out.println("requests for each cycle: " + requests);
        // A machine that stands still beyond a node timeout may cost a few more.
        assertThat(requests).isBetween(9.99, 10.05);
      }
    }
  }

  private static long scripts(RedisServers servers) {
    long calls = 0;
    for (RedisServer server : servers.all()) {
      Matcher matcher = SCRIPTS.matcher(String.valueOf(server.command("INFO", "commandstats")));
      calls += matcher.find() ? Long.parseLong(matcher.group(1)) : 0;
    }
    return calls;
  }
}
