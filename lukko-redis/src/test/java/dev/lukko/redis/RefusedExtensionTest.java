package dev.lukko.redis;

import static dev.lukko.redis.testing.Requests.TTL;
import static dev.lukko.redis.testing.Requests.answer;
import static dev.lukko.redis.testing.Requests.entry;
import static dev.lukko.redis.testing.Requests.extend;
import static dev.lukko.redis.testing.Requests.granted;
import static dev.lukko.redis.testing.Requests.reader;
import static dev.lukko.redis.testing.Requests.release;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.redis.ScriptedStore.Version;
import dev.lukko.redis.testing.Requests;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import dev.lukko.testkit.RedisServer;
import dev.lukko.testkit.SoleFleet;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What an extension must not do to the counter on which another owner's token rests. */
class RefusedExtensionTest {
  private static final LockEntry MINE = entry("mine", "r");
  private static final String KEY = "lukko:{r}";
  private static final String COUNTER = KEY + ":token";

  @ParameterizedTest
  @EnumSource
  void refusedExtensionIsOneScriptAndLeavesTheCountersExpiryOnEveryServer(Version version) {
    try (ScriptedServer server = new ScriptedServer(version);
        RedisNode node = RedisNode.connect(server.url())) {
      server.store().values.put(KEY, "theirs");
      server.store().ttls.put(COUNTER, 900_000_000L);
      server.requests(); // what connecting has sent
      assertThat(extend(node, MINE, TTL)).isInstanceOf(ExtendReply.HeldByOther.class);
      release(node, MINE); // behind whatever the extension has sent
      assertThat(server.requests()).containsExactly("extend", "release");
      assertThat(server.store().ttls).containsExactly(Map.entry(COUNTER, 900_000_000L));
    }
  }

  @Test
  void formerOwnerWithAShorterRetentionLeavesTheCountersExpiry() {
    try (RedisServer server = RedisServer.start();
        RedisNode holder = Requests.admitted(RedisNode.connect(server.url()));
        RedisNode former =
            RedisNode.builder().counterRetention(Duration.ofMinutes(2)).connect(server.url())) {
      granted(holder, MINE, 5);
      assertThat(extend(former, entry("former", "r"), TTL))
          .isInstanceOf(ExtendReply.HeldByOther.class);
      assertThat(expiryMillis(server)).isGreaterThan(Duration.ofDays(6).toMillis());
      release(holder, MINE);
      assertThat(extend(former, MINE, TTL)).isInstanceOf(ExtendReply.Missing.class);
      assertThat(expiryMillis(server)).isGreaterThan(Duration.ofDays(6).toMillis());
    }
  }

  @Test
  void readerWithAShortTtlLeavesTheCounterToAReaderWithALongOne() {
    long longTtl = Duration.ofDays(30).toMillis();
    try (RedisServer server = RedisServer.start();
        RedisNode node = Requests.admitted(RedisNode.connect(server.url()))) {
      LockEntry patient = reader("patient", "r");
      LockEntry quick = reader("quick", "r");
      answer(SoleFleet.grant(node, new GrantRequest(patient, longTtl, 5)));
      granted(node, quick, 6);
      assertThat(expiryMillis(server)).as("after a grant").isGreaterThan(longTtl - TTL);
      assertThat(extend(node, quick, TTL)).isEqualTo(new ExtendReply.Extended());
      assertThat(expiryMillis(server)).as("after an extension").isGreaterThan(longTtl - TTL);
      assertThat(Requests.repair(node, quick, TTL, 6)).isEqualTo(new ExtendReply.Extended());
      assertThat(expiryMillis(server)).as("after a repair").isGreaterThan(longTtl - TTL);
    }
  }

  private static long expiryMillis(RedisServer server) {
    return (Long) server.command("PTTL", COUNTER);
  }
}
