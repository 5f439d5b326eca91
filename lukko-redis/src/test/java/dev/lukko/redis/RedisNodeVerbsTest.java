package dev.lukko.redis;

import static dev.lukko.redis.testing.Requests.TTL;
import static dev.lukko.redis.testing.Requests.confirm;
import static dev.lukko.redis.testing.Requests.entry;
import static dev.lukko.redis.testing.Requests.extend;
import static dev.lukko.redis.testing.Requests.granted;
import static dev.lukko.redis.testing.Requests.release;
import static dev.lukko.redis.testing.Requests.repair;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.redis.testing.Requests;
import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.testkit.MonitorTap;
import dev.lukko.testkit.RedisServer;
import dev.lukko.testkit.rows.FaultRow;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RedisNodeVerbsTest {
  private static final long MAX = GrantRequest.MAX_COUNTER;

  private static RedisServer server;
  private static RedisNode node;

  @BeforeAll
  static void start() {
    server = RedisServer.start();
    node = RedisNode.connect(server.url());
  }

  @AfterAll
  static void stop() {
    node.close();
    server.close();
  }

  @BeforeEach
  void empty() {
    server.command("FLUSHALL");
    Requests.admit(node);
  }

  @FaultRow(16)
  @Test
  void repeatedGrantGetsStoredAnswerAndRaisesNothing() {
    granted(node, entry("a", "r"), 500);
    assertThat(granted(node, entry("a", "r"), 500)).isEqualTo(500);
    assertThat(granted(node, entry("a", "r"), 900)).isEqualTo(500);
    assertThat(server.command("GET", "lukko:{r}:token")).isEqualTo("500");
  }

  @Test
  void grantOfFreeResourceStoresOwnerTtlAndCounter() {
    assertThat(granted(node, entry("alice", "r"), 500)).isEqualTo(500);

    assertThat(server.command("GET", "lukko:{r}")).isEqualTo("alice");
    assertThat((Long) server.command("PTTL", "lukko:{r}")).isBetween(1L, TTL);
    assertThat(server.command("GET", "lukko:{r}:token")).isEqualTo("500");
    assertThat((Long) server.command("PTTL", "lukko:{r}:token"))
        .isBetween(Duration.ofDays(6).toMillis(), Duration.ofDays(7).toMillis());
  }

  @Test
  void extendOfSeveralChangesNothingIfOneIsMissingOrForeign() {
    granted(node, entry("a", "p", "q"), 500);
    server.command("DEL", "lukko:{q}");
    assertThat(extend(node, entry("a", "p", "q"), 10 * TTL))
        .isInstanceOf(ExtendReply.Missing.class);
    assertThat((Long) server.command("PTTL", "lukko:{p}")).isLessThanOrEqualTo(TTL);
    server.command("SET", "lukko:{q}", "b");
    assertThat(extend(node, entry("a", "p", "q"), 10 * TTL))
        .isInstanceOf(ExtendReply.HeldByOther.class);
    assertThat(repair(node, entry("a", "p", "q"), 10 * TTL, 600))
        .isInstanceOf(ExtendReply.HeldByOther.class);
    assertThat((Long) server.command("PTTL", "lukko:{p}")).isLessThanOrEqualTo(TTL);
    assertThat(server.command("GET", "lukko:{p}:token")).isEqualTo("500");
  }

  @Test
  void repairCreatesWhatIsMissingAndRaisesCounters() {
    granted(node, entry("a", "p", "q"), 500);
    server.command("DEL", "lukko:{q}", "lukko:{q}:token");
    assertThat(repair(node, entry("a", "p", "q"), 10 * TTL, 450))
        .isEqualTo(new ExtendReply.Extended());
    assertThat(server.command("MGET", "lukko:{p}", "lukko:{q}")).isEqualTo(List.of("a", "a"));
    assertThat(server.command("MGET", "lukko:{p}:token", "lukko:{q}:token"))
        .isEqualTo(List.of("500", "450"));
    assertThat((Long) server.command("PTTL", "lukko:{p}")).isGreaterThan(TTL);
    assertThat((Long) server.command("PTTL", "lukko:{q}")).isGreaterThan(TTL);
  }

  @Test
  void releaseIsPublishedOnTheChannelOfItsResource() {
    try (MonitorTap tap = MonitorTap.on(server)) {
      granted(node, entry("a", "r"), 500);
      release(node, entry("a", "r"));
      release(node, entry("a", "r"));
      assertThat(tap.lines())
          .filteredOn(line -> line.contains("lua] \"PUBLISH\""))
          .singleElement()
          .asString()
          .contains("\"lukko:{r}:released\"");
    }
  }

  @Test
  void counterIsNeverKeptForLessThanTheTtl() {
    try (RedisNode brief =
        RedisNode.builder().counterRetention(Duration.ofSeconds(10)).connect(server.url())) {
      granted(brief, entry("a", "r"), 500);
      assertThat((Long) server.command("PTTL", "lukko:{r}:token")).isBetween(10_001L, TTL);
      assertThat(extend(brief, entry("a", "r"), 10 * TTL)).isEqualTo(new ExtendReply.Extended());
      assertThat((Long) server.command("PTTL", "lukko:{r}:token")).isGreaterThan(TTL);
      assertThat(confirm(brief, entry("a", "r"), 501)).isEqualTo(new ConfirmReply.Confirmed());
      assertThat((Long) server.command("PTTL", "lukko:{r}:token")).isGreaterThan(TTL);
    }
  }
}
