package dev.lukko.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class MonitorTapTest {

  @Test
  void tellsEveryRequestOnceAndInOrder() {
    try (RedisServer server = RedisServer.builder().password("pw").start();
        MonitorTap tap = MonitorTap.on(server)) {
      for (int i = 0; i < 100; i++) {
        server.command("SET", "k", "v" + i);
      }
      server.command("EVAL", "return redis.call('get', KEYS[1])", "1", "k");

      List<String> sets = tap.requests().stream().filter(line -> line.contains("\"SET\"")).toList();
      assertThat(sets).hasSize(100);
      assertThat(sets.get(7)).endsWith("\"SET\" \"k\" \"v7\"");
      assertThat(tap.requests()).noneMatch(line -> line.contains("\"get\""));
      assertThat(tap.lines()).anyMatch(line -> line.endsWith("lua] \"get\" \"k\""));
    }
  }

  @Test
  void serverThatDiesIsReported() {
    try (RedisServer server = RedisServer.start();
        MonitorTap tap = MonitorTap.on(server)) {
      server.restart();
      assertThatThrownBy(tap::requests)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("MONITOR");
    }
  }
}
