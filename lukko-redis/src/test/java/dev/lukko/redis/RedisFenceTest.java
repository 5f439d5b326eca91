package dev.lukko.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lukko.Lease;
import dev.lukko.LockRequest;
import dev.lukko.fencing.StaleTokenException;
import dev.lukko.memory.InMemoryNode;
import dev.lukko.redis.format.HashSlots;
import dev.lukko.redlock.Redlock;
import dev.lukko.testkit.RedisServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.sync.RedisCommands;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RedisFenceTest {
  private static RedisServer server;
  private static RedisClient client;
  private static RedisCommands<String, String> redis;

  private final RedisFence fence = RedisFence.over(redis);

  @BeforeAll
  static void start() {
    server = RedisServer.start();
    client = RedisClient.create(server.url());
    redis = client.connect().sync();
  }

  @AfterAll
  static void stop() {
    client.shutdown();
    server.close();
  }

  @BeforeEach
  void empty() {
    redis.flushall();
    redis.scriptFlush();
  }

  @Test
  void lowerTokenAfterHigherIsRefusedWithBothNumbersAndWritesNothing() {
    fence.set("account", "by 34", 34);

    assertThatThrownBy(() -> fence.set("account", "by 33", 33))
        .isInstanceOfSatisfying(
            StaleTokenException.class,
            stale -> {
              assertThat(stale.resource()).isEqualTo("account");
              assertThat(stale.token()).isEqualTo(33);
              assertThat(stale.highest()).isEqualTo(34);
            });
    assertThatThrownBy(() -> fence.check("account", 33)).isInstanceOf(StaleTokenException.class);
    assertThatThrownBy(() -> fence.delete("account", 33)).isInstanceOf(StaleTokenException.class);
    assertThat(redis.get("account")).isEqualTo("by 34");
  }

  @Test
  void holderWritesTwiceByDefaultAndOnceWhenStrict() {
    fence.set("a", "1", 34);
    fence.set("a", "2", 34);
    assertThat(redis.get("a")).isEqualTo("2");

    RedisFence strict = fence.strict();
    strict.touch("b", 34);
    assertThat(strict.get("b", 34)).isEmpty();
    strict.set("b", "1", 34);
    assertThatThrownBy(() -> strict.set("b", "2", 34))
        .isInstanceOf(StaleTokenException.class)
        .hasMessageContaining("used already");
    assertThat(strict.get("b", 34)).hasValue("1");
    strict.set("b", "3", 35);
  }

  @Test
  void readByTheNewHolderRaisesTheFence() {
    fence.set("account", "by 33", 33);
    assertThat(fence.get("account", 34)).hasValue("by 33");
    assertThatThrownBy(() -> fence.set("account", "late", 33))
        .isInstanceOf(StaleTokenException.class);
    assertThatThrownBy(() -> fence.get("account", 33)).isInstanceOf(StaleTokenException.class);
  }

  @Test
  void deletedValueLeavesItsFence() {
    fence.set("account", "by 34", 34);
    assertThat(fence.delete("account", 34)).isTrue();
    assertThat(fence.delete("account", 34)).isFalse();
    assertThatThrownBy(() -> fence.set("account", "late", 33))
        .isInstanceOf(StaleTokenException.class);
    assertThat(redis.exists("account")).isZero();
  }

  @Test
  void leaseOverSeveralResourcesChecksEachWithItsOneToken() {
    try (Redlock locks = Redlock.over(new InMemoryNode());
        Lease lease =
            locks.acquire(LockRequest.builder("a", "b").ttl(Duration.ofMinutes(1)).build())) {
      fence.check(lease);
      fence.set("a", "1", lease);
      fence.touch("b", lease.fencingToken() + 1);
      assertThatThrownBy(() -> fence.check(lease))
          .isInstanceOfSatisfying(
              StaleTokenException.class, stale -> assertThat(stale.resource()).isEqualTo("b"));
    }
  }

  @Test
  void tokensAreComparedExactlyUpTo2ToThe53() {
    fence.check("account", RedisFence.MAX_TOKEN);
    assertThatThrownBy(() -> fence.check("account", RedisFence.MAX_TOKEN - 1))
        .isInstanceOfSatisfying(
            StaleTokenException.class,
            stale -> assertThat(stale.highest()).isEqualTo(9007199254740991L));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> fence.check("account", RedisFence.MAX_TOKEN + 1))
        .withMessageContainingAll("token", "9007199254740992", "9007199254740991");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> fence.set("", "x", 1))
        .withMessageContaining("resource");
  }

  @Test
  void fenceEndsAfterItsRetentionSinceTheLastContact() {
    fence.check("account", 34);
    String key = RedisFence.fenceKey("account");
    assertThat(redis.ttl(key)).isBetween(7L * 86_400 - 60, 7L * 86_400);
    RedisFence shorter = fence.retention(Duration.ofHours(1));
    shorter.touch("account", 34);
    assertThat(redis.ttl(key)).isBetween(3_500L, 3_600L);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> fence.retention(Duration.ofMillis(999)))
        .withMessageContaining("retention");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"garbage", "-1", "1.5", "1e3", "9007199254740992", "", "99999999999999999999"})
  void fenceThatHoldsGarbageIsAnErrorAndNothingIsWritten(String garbage) {
    redis.hset(RedisFence.fenceKey("account"), "token", garbage);
    assertThatThrownBy(() -> fence.set("account", "x", 34))
        .isInstanceOf(RedisCommandExecutionException.class)
        .hasMessageContainingAll("FENCE", RedisFence.fenceKey("account"));
    assertThat(redis.exists("account")).isZero();
  }

  @Test
  void foreignKeyInThePlaceOfAFenceIsAnErrorAndNothingIsWritten() {
    redis.set(RedisFence.fenceKey("account"), "foreign");
    assertThatThrownBy(() -> fence.set("account", "x", 34))
        .isInstanceOf(RedisCommandExecutionException.class)
        .hasMessageContaining("WRONGTYPE");
    assertThat(redis.exists("account")).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"account", "{tag}account", "a}b", "{}x", "a{b", "\u20AC{\u00E4}", "}{"})
  void fenceIsInTheSlotOfItsValue(String name) {
    assertThat(HashSlots.of(HashSlots.hashed(RedisFence.fenceKey(name))))
        .isEqualTo(HashSlots.of(HashSlots.hashed(name)));
    fence.set(name, "x", 1);
    assertThat(redis.get(name)).isEqualTo("x");
  }

  @Test
  void snippetGuardsAScriptOfOnesOwn() {
    String script =
        RedisFence.snippet()
            + """
            local highest = lukko_fence(KEYS[1], ARGV[1], 'write', 604800000)
            if highest then
              return redis.error_reply('STALE ' .. ARGV[1] .. ' < ' .. highest)
            end
            return redis.call('HINCRBY', KEYS[2], 'balance', ARGV[2])
            """;
    String[] keys = {RedisFence.fenceKey("account"), "account"};
    assertThat((Long) redis.eval(script, ScriptOutputType.INTEGER, keys, "34", "100"))
        .isEqualTo(100);
    assertThatThrownBy(() -> redis.eval(script, ScriptOutputType.INTEGER, keys, "33", "100"))
        .hasMessageContainingAll("STALE", "33", "34");
    assertThatThrownBy(() -> fence.check("account", 33)).isInstanceOf(StaleTokenException.class);
    assertThat(redis.hget("account", "balance")).isEqualTo("100");
  }

  @Test
  void manyWritersInAnyOrderLeaveTheValueOfTheHighestToken() throws Exception {
    List<Long> tokens = new ArrayList<>();
    for (long token = 1; token <= 500; token++) {
      tokens.add(token);
      tokens.add(token);
    }
    Collections.shuffle(tokens, new Random(7));
    ExecutorService pool = Executors.newFixedThreadPool(8);
    try {
      List<Future<?>> all = new ArrayList<>();
      for (long token : tokens) {
        all.add(
            pool.submit(
                () -> {
                  try {
                    fence.set("account", Long.toString(token), token);
                  } catch (StaleTokenException stale) {
                    assertThat(stale.highest()).isGreaterThan(token);
                  }
                }));
      }
      for (Future<?> one : all) {
        one.get(60, TimeUnit.SECONDS);
      }
    } finally {
      pool.shutdownNow();
    }
    assertThat(redis.get("account")).isEqualTo("500");
    assertThat(redis.hget(RedisFence.fenceKey("account"), "token")).isEqualTo("500");
  }
}
