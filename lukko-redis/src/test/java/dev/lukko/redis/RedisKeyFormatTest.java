package dev.lukko.redis;

import static dev.lukko.redis.testing.Requests.entry;
import static dev.lukko.redis.testing.Requests.granted;
import static dev.lukko.redis.testing.Requests.refused;
import static dev.lukko.redis.testing.Requests.release;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.redis.format.HashSlots;
import dev.lukko.redis.format.RedisKeyFormat;
import dev.lukko.testkit.RedisServer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class RedisKeyFormatTest {

  /** All names of up to four characters of an alphabet that is awkward on purpose. */
  private static List<String> awkwardNames() {
    List<String> names = new ArrayList<>(List.of(""));
    for (int from = 0, length = 0; length < 4; length++) {
      int to = names.size();
      for (int i = from; i < to; i++) {
        for (char c : new char[] {'{', '}', '\\', 'a', ':'}) {
          names.add(names.get(i) + c);
        }
      }
      from = to;
    }
    names.remove("");
    names.addAll(List.of("a}:token", "a:token", "lukko:{a}", "lukko:{a}:token", "ä}{ö}"));
    return names;
  }

  @ParameterizedTest
  @EnumSource
  void noTwoResourcesShareAKey(RedisKeyFormat format) {
    Map<String, String> owners = new HashMap<>();
    owners.put(format.records(), "the records");
    for (String name : awkwardNames()) {
      assertThat(owners.put(format.entry(name), name)).as("entry of %s", name).isNull();
      assertThat(owners.put(format.counter(name), name)).as("counter of %s", name).isNull();
      assertThat(owners.put(format.line(name), name)).as("line of %s", name).isNull();
    }
  }

  @ParameterizedTest
  @EnumSource
  void entryAndCounterShareASlotAsTheServerSeesIt(RedisKeyFormat format) {
    try (RedisServer server = RedisServer.builder().config("cluster-enabled yes").start()) {
      for (String name : awkwardNames()) {
        Object slot = server.command("CLUSTER", "KEYSLOT", format.entry(name));
        assertThat(server.command("CLUSTER", "KEYSLOT", format.counter(name)))
            .as("%s and %s", format.entry(name), format.counter(name))
            .isEqualTo(slot);
        assertThat(server.command("CLUSTER", "KEYSLOT", format.line(name))).isEqualTo(slot);
        assertThat((long) HashSlots.of(HashSlots.hashed(format.entry(name)))).isEqualTo(slot);
      }
    }
  }

  @Test
  void defaultKeysAreReadable() {
    assertThat(RedisKeyFormat.PREFIXED.entry("order:42")).isEqualTo("lukko:{order:42}");
    assertThat(RedisKeyFormat.PREFIXED.counter("order:42")).isEqualTo("lukko:{order:42}:token");
    assertThat(RedisKeyFormat.PREFIXED.channel("order:42")).isEqualTo("lukko:{order:42}:released");
  }

  @Test
  void plainFormatAndAnotherRedlockLibraryExcludeEachOther() {
    try (RedisServer server = RedisServer.start();
        RedisNode node =
            RedisNode.builder().keyFormat(RedisKeyFormat.PLAIN).connect(server.url())) {
      // what every Redlock library does to lock
      assertThat(server.command("SET", "locks:job", "5f1d7a", "NX", "PX", "60000")).isEqualTo("OK");
      var refused = refused(node, entry("a", "locks:job"), 5);
      assertThat(refused.holder().description()).contains("5f1d7a");
      assertThat(refused.holder().remaining()).isPresent();

      server.command("DEL", "locks:job");
      granted(node, entry("a", "locks:job"), 5);
      assertThat(server.command("SET", "locks:job", "5f1d7a", "NX", "PX", "60000")).isNull();
      assertThat(server.command("GET", "locks:job")).isEqualTo("a");
      release(node, entry("a", "locks:job"));
      assertThat(server.command("SET", "locks:job", "5f1d7a", "NX", "PX", "60000")).isEqualTo("OK");
    }
  }
}
