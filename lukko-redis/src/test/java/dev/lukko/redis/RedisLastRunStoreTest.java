package dev.lukko.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lukko.LockException;
import dev.lukko.schedule.LastRunStore;
import dev.lukko.schedule.LastRunStore.Decision;
import dev.lukko.testkit.LastRunStoreContract;
import dev.lukko.testkit.RedisServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.sync.RedisCommands;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class RedisLastRunStoreTest extends LastRunStoreContract {
  private static final Instant TICK = Instant.parse("2026-01-31T03:00:00Z");

  private static RedisServer server;
  private static RedisClient client;
  private static RedisCommands<String, String> redis;

  @BeforeAll
  static void start() {
    server = RedisServer.start();
    client = RedisClient.create("redis://127.0.0.1:" + server.port());
    redis = client.connect().sync();
  }

  @AfterAll
  static void stop() {
    client.shutdown();
    server.close();
  }

  @Override
  protected LastRunStore emptyStore() {
    redis.flushall();
    redis.scriptFlush();
    return RedisLastRunStore.over(redis);
  }

  @Test
  void keysOfAJobAreInOneSlot_andPruningLeavesThoseOfTheLastRunOnly() {
    LastRunStore store = emptyStore();
    for (int i = 0; i < 5; i++) {
      store.begin("job", TICK.plusSeconds(i), i + 1, "one", Set.of());
    }
    assertThat(redis.keys("*"))
        .containsExactlyInAnyOrder(
            "lukko:job:{job}", "lukko:job:{job}:order", "lukko:job:{job}:runs");
    store.prune("job", TICK.plusSeconds(100));
    assertThat(redis.zcard("lukko:job:{job}:order")).isEqualTo(1);
    assertThat(redis.hlen("lukko:job:{job}:runs")).isEqualTo(3);
    assertThat(RedisLastRunStore.over(redis).begin("job", TICK, 99, "two", Set.of()))
        .isEqualTo(Decision.HAD_ITS_RUN);
  }

  @Test
  void entryThatNobodyWroteIsAnErrorOfItsJobAlone() {
    LastRunStore store = emptyStore();
    for (String job : List.of("nightly", "hourly")) {
      store.begin(job, TICK, 5, "one", Set.of());
    }
    String runs = "lukko:job:{nightly}:runs";
    String outcome =
        redis.hkeys(runs).stream().filter(key -> key.endsWith(":outcome")).findAny().orElseThrow();
    redis.hset(runs, outcome, "DONE");

    assertThatThrownBy(() -> store.history("nightly", 9))
        .isInstanceOf(LockException.class)
        .hasMessageContaining("nightly holds garbage");
    assertThat(store.history("hourly", 9)).hasSize(1);
  }

  @Test
  void numbersThatAScriptCannotHoldAreRefusedByName() {
    LastRunStore store = emptyStore();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> store.begin("job", Instant.EPOCH.minusSeconds(1), 1, "one", Set.of()))
        .withMessageContaining("tick");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> store.begin("job", TICK, 1L << 53, "one", Set.of()))
        .withMessageContaining("fencingToken");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> store.history("job", 0))
        .withMessageContaining("limit");
  }
}
