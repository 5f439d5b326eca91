package dev.lukko.jedis;

import static dev.lukko.redis.testing.Requests.answer;
import static dev.lukko.redis.testing.Requests.entry;
import static dev.lukko.redis.testing.Requests.grant;
import static dev.lukko.redis.testing.Requests.has;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lukko.spi.GrantReply;
import dev.lukko.spi.Unknown;
import dev.lukko.testkit.FaultProxy;
import dev.lukko.testkit.MonitorTap;
import dev.lukko.testkit.RedisServer;

/** Requests whose connection breaks: what the server has seen of each. */
final class SentOnce {

  private SentOnce() {}

  /** Breaks connections of a node behind a proxy, at a reply and at a request. */
  static void check(JedisNode node, RedisServer server, FaultProxy proxy) {
    grant(node, entry("warm", "warm"), 5);
    answer(node.release(entry("warm", "warm")));
    try (MonitorTap tap = MonitorTap.on(server)) {
      proxy.resetAtNextReply(has("owner-1"));
      assertThat(grant(node, entry("owner-1", "r"), 5))
          .isInstanceOfSatisfying(
              Unknown.class, unknown -> assertThat(unknown.detail()).startsWith("connection lost"));
      proxy.resetAtNextRequest(has("owner-2"));
      await().until(() -> grant(node, entry("owner-2", "s"), 5) instanceof Unknown);
      await().until(() -> grant(node, entry("other", "x"), 5) instanceof GrantReply.Granted);
      answer(node.release(entry("owner-1", "r")));
      await().until(() -> server.command("GET", "lukko:{r}") == null);
      assertThat(timesSeen(tap, "lukko:{r}:token", "owner-1")).isEqualTo(1);
      assertThat(timesSeen(tap, "EVAL", "owner-2")).isZero();
    }
  }

  static long timesSeen(MonitorTap tap, String word, String owner) {
    return tap.requests().stream()
        .filter(line -> line.contains("\"" + owner + "\"") && line.contains(word))
        .count();
  }
}
