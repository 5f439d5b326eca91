package dev.lukko.redis;

import static dev.lukko.redis.testing.Requests.TTL;
import static dev.lukko.redis.testing.Requests.entry;
import static dev.lukko.redis.testing.Requests.extend;
import static dev.lukko.redis.testing.Requests.granted;
import static dev.lukko.redis.testing.Requests.reader;
import static dev.lukko.redis.testing.Requests.refused;
import static dev.lukko.redis.testing.Requests.release;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lukko.redis.ScriptedStore.Version;
import dev.lukko.redis.protocol.GrantedOwners;
import dev.lukko.redis.protocol.NativeForm;
import dev.lukko.redis.protocol.NativeSupport;
import dev.lukko.redis.protocol.Script;
import dev.lukko.redis.protocol.ScriptCall;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.spi.Unknown;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Which commands a node uses at which server, at servers that only say what they are. */
class NativeCommandsTest {
  private static final LockEntry MINE = entry("mine", "r");
  private static final String KEY = "lukko:{r}";

  @ParameterizedTest
  @CsvSource({
    "REDIS_7_4, extend, release",
    "REDIS_8_4, SET IFEQ:PEXPIRE, DELEX:PUBLISH",
    "VALKEY_8_0, extend, release",
    "VALKEY_8_1, SET IFEQ:PEXPIRE, release",
    "VALKEY_9_0, SET IFEQ:PEXPIRE, DELIFEQ:PUBLISH",
    "VALKEY_9_2, SET IFEQ:PEXPIRE, DELEX:PUBLISH",
  })
  void eachServerIsAskedForTheBestThatItHas(Version version, String extends_, String releases) {
    try (ScriptedServer server = new ScriptedServer(version);
        RedisNode node = RedisNode.connect(server.url())) {
      assertThat(granted(node, MINE, 5)).isEqualTo(5);
      assertThat(server.requests()).as("a grant needs counter and marker").containsExactly("grant");
      assertThat(extend(node, MINE, 7_000)).isEqualTo(new ExtendReply.Extended());
      await().untilAsserted(() -> assertThat(server.store().ttls).containsEntry(KEY, 7_000L));
      assertSeen(server, extends_);
      assertThat(release(node, MINE)).isEqualTo(new ReleaseReply.Released());
      assertSeen(server, releases);
      assertThat(release(node, MINE)).isEqualTo(new ReleaseReply.NotHeld());
      assertSeen(server, "release");
    }
  }

  /** The last of them may come a little after the reply. */
  private static void assertSeen(ScriptedServer server, String names) {
    List<String> expected = List.of(names.split(":"));
    List<String> seen = new ArrayList<>();
    await()
        .untilAsserted(
            () -> {
              seen.addAll(server.requests());
              assertThat(seen)
                  .startsWith(expected.get(0))
                  .containsExactlyInAnyOrderElementsOf(expected);
            });
  }

  @Test
  void nativeExtensionKeepsTheCounterAndOwnerComparedExactly() {
    try (ScriptedServer server = new ScriptedServer(Version.REDIS_8_4);
        RedisNode node = RedisNode.connect(server.url())) {
      granted(node, MINE, 5);
      extend(node, MINE, 7_000);
      await()
          .untilAsserted(
              () ->
                  assertThat(server.store().ttls)
                      .containsEntry(KEY + ":token", 604_800_000L)
                      .containsEntry(KEY, 7_000L));
      assertThat(server.store().values).containsEntry(KEY, "mine");
    }
  }

  @Test
  void extensionThatFindsAnotherHolderSaysWho() {
    try (ScriptedServer server = new ScriptedServer(Version.VALKEY_9_0);
        RedisNode node = RedisNode.connect(server.url())) {
      server.store().values.put(KEY, "theirs");
      ExtendReply reply = extend(node, MINE, TTL);
      assertThat(((ExtendReply.HeldByOther) reply).holder().description()).contains("theirs");
      server.store().values.remove(KEY);
      assertThat(extend(node, MINE, TTL)).isEqualTo(new ExtendReply.Missing());
    }
  }

  @Test
  void releaseOfWhatWasNotGrantedIsTheScriptsWhichWakesNobodyInVain() {
    try (ScriptedServer server = new ScriptedServer(Version.REDIS_8_4);
        RedisNode node = RedisNode.connect(server.url())) {
      server.store().values.put(KEY, "theirs");
      refused(node, MINE, 5);
      assertThat(release(node, MINE)).isEqualTo(new ReleaseReply.NotHeld());
      assertThat(server.requests()).containsExactly("grant", "release");
    }
  }

  @Test
  void severalResourcesAndReadersAreTheScripts() {
    NativeSupport all = new NativeSupport(NativeSupport.DELEX, true);
    LockEntry two = entry("mine", "r", "s");
    for (LockEntry entry : List.of(two, reader("mine", "r"))) {
      String[] keys = {KEY, KEY + ":token"};
      String[] many = {entry.owner(), entry.shared() ? "shared" : "exclusive", "2", "1", "2"};
      assertThat(NativeForm.of(new ScriptCall(Script.EXTEND, "mine", keys, many), all)).isNull();
      ScriptCall release = new ScriptCall(Script.RELEASE, "mine", keys, many).expectingEntry();
      assertThat(NativeForm.of(release, all)).isNull();
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"REDIS_8_4", "VALKEY_9_0", "VALKEY_9_2"})
  void serverThatIsDowngradedUnderUsGetsScriptsOnTheSameConnection(Version before) {
    try (ScriptedServer server = new ScriptedServer(before);
        RedisNode node = RedisNode.connect(server.url())) {
      granted(node, MINE, 5);
      server.requests();
      server.become(Version.REDIS_7_4);
      assertThat(extend(node, MINE, 7_000)).isEqualTo(new ExtendReply.Extended());
      assertSeen(server, "SET IFEQ:PEXPIRE:extend");
      assertThat(extend(node, MINE, 8_000)).isEqualTo(new ExtendReply.Extended());
      assertThat(server.requests()).as("it is not asked twice").containsExactly("extend");
      assertThat(release(node, MINE)).isEqualTo(new ReleaseReply.Released());
      assertThat(server.requests())
          .containsExactly(
              before == Version.VALKEY_9_0 ? "DELIFEQ" : "DELEX", "PUBLISH", "release");
      granted(node, MINE, 6);
      assertThat(release(node, MINE)).isEqualTo(new ReleaseReply.Released());
      assertThat(server.requests()).containsExactly("grant", "release");
    }
  }

  @Test
  void fullServerExtendsByScriptAndIsAskedAgain() {
    try (ScriptedServer server = new ScriptedServer(Version.REDIS_8_4);
        RedisNode node = RedisNode.connect(server.url())) {
      granted(node, MINE, 5);
      server.store().full(true);
      assertThat(extend(node, MINE, 7_000)).isEqualTo(new ExtendReply.Extended());
      assertSeen(server, "grant:SET IFEQ:PEXPIRE:extend");
      server.store().full(false);
      assertThat(extend(node, MINE, 7_000)).isEqualTo(new ExtendReply.Extended());
      assertSeen(server, "SET IFEQ:PEXPIRE");
    }
  }

  @Test
  void entryOfAnotherTypeIsTheScriptsToJudge() {
    try (ScriptedServer server = new ScriptedServer(Version.REDIS_8_4);
        RedisNode node = RedisNode.connect(server.url())) {
      granted(node, MINE, 5);
      server.store().values.put(KEY, "(hash)");
      assertThat(release(node, MINE)).isEqualTo(new ReleaseReply.NotHeld());
      assertSeen(server, "grant:DELEX:PUBLISH:release");
    }
  }

  @Test
  void extensionWithoutAReplyIsNotSentAgain() {
    try (ScriptedServer server = new ScriptedServer(Version.REDIS_8_4);
        RedisNode node = RedisNode.connect(server.url())) {
      granted(node, MINE, 5);
      server.swallowed.set(words -> words.get(0).equals("SET"));
      assertThat(extend(node, MINE, 7_000)).isInstanceOf(Unknown.class);
      server.swallowed.set(words -> false);
      await().until(() -> !node.toString().contains("not connected"));
      granted(node, MINE, 5); // behind whatever would have been sent again
      assertThat(server.requests()).doesNotContain("extend").containsOnlyOnce("SET IFEQ");
    }
  }

  @Test
  void releaseWithoutAReplyIsSentAgainWithItsHint() {
    try (ScriptedServer server = new ScriptedServer(Version.REDIS_8_4);
        RedisNode node = RedisNode.connect(server.url())) {
      granted(node, MINE, 5);
      server.requests();
      server.swallowed.set(words -> words.get(0).equals("DELEX"));
      assertThat(release(node, MINE)).isInstanceOf(Unknown.class);
      server.swallowed.set(words -> false);
      // the hint may have been lost with the connection, so that the second one counts
      List<String> seen = new ArrayList<>();
      await()
          .untilAsserted(
              () -> {
                seen.addAll(server.requests());
                assertThat(seen).containsSequence("DELEX", "PUBLISH").hasSizeGreaterThan(2);
              });
      assertThat(server.store().values).doesNotContainKey(KEY);
    }
  }

  @Test
  void releaseTellsHowManyHaveHeardOfIt() {
    try (ScriptedServer server = new ScriptedServer(Version.VALKEY_9_0);
        RedisNode node = RedisNode.connect(server.url())) {
      server.store().listeners(3);
      granted(node, MINE, 5);
      assertThat(release(node, MINE)).isEqualTo(new ReleaseReply.Released(3));
    }
  }

  @Test
  void releaseIsOpenUntilItsHintIsOnItsWay() {
    try (ScriptedServer server = new ScriptedServer(Version.REDIS_8_4);
        RedisNode node = RedisNode.connect(server.url())) {
      granted(node, MINE, 5);
      server.requests();
      server.swallowed.set(words -> words.get(0).equals("PUBLISH"));
      assertThat(release(node, MINE)).isInstanceOf(Unknown.class);
      server.swallowed.set(words -> false);
      List<String> seen = new ArrayList<>();
      await()
          .untilAsserted(
              () -> {
                seen.addAll(server.requests());
                assertThat(seen).endsWith("DELEX", "PUBLISH").hasSize(4);
              });
    }
  }

  @Test
  void versionDecidesOnTheCommands() {
    assertThat(NativeSupport.of(Map.of("redis_version", "8.3.9")).names()).isEmpty();
    assertThat(NativeSupport.of(Map.of("redis_version", "8.10.0")).names())
        .containsExactly("DELEX", "SET IFEQ");
    assertThat(NativeSupport.of(Map.of("redis_version", "255.255.255")).names()).hasSize(2);
    assertThat(NativeSupport.of(Map.of("redis_version", "unstable")).names()).isEmpty();
    assertThat(NativeSupport.of(Map.of()).names()).isEmpty();
    assertThat(
            NativeSupport.of(Map.of("redis_version", "8.4.0", "valkey_version", "8.0.0")).names())
        .as("what counts is Valkey's own version")
        .isEmpty();
  }

  @Test
  void grantedOwnersAreForgottenWhenTheirTimeIsOver() {
    GrantedOwners owners = new GrantedOwners();
    for (int i = 0; i < GrantedOwners.MAX; i++) {
      owners.add("old" + i, 0);
    }
    owners.add("new", 60_000);
    assertThat(owners.remove("new")).isTrue();
    assertThat(owners.remove("new")).isFalse();
    assertThat(owners.remove("old1")).isFalse();
  }
}
