package dev.lukko.redis;

import static dev.lukko.redis.testing.Requests.TTL;
import static dev.lukko.redis.testing.Requests.admit;
import static dev.lukko.redis.testing.Requests.answer;
import static dev.lukko.redis.testing.Requests.entry;
import static dev.lukko.redis.testing.Requests.granted;
import static dev.lukko.redis.testing.Requests.release;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lukko.redis.format.RedisKeyFormat;
import dev.lukko.redis.testing.Requests;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.NodeStatus.State;
import dev.lukko.spi.NodeStatus.Trait;
import dev.lukko.spi.NotVoting;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.testkit.FaultProxy;
import dev.lukko.testkit.MonitorTap;
import dev.lukko.testkit.RedisServer;
import dev.lukko.testkit.SoleFleet;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What keeps a server from voting that has forgotten, and who says that it may again. */
class RedisNodeMarkerTest {
  private static final String MARKER = RedisKeyFormat.PREFIXED.records();

  private RedisServer server;
  private RedisNode node;

  private void start(Consumer<RedisServer.Builder> options) {
    RedisServer.Builder builder = RedisServer.builder();
    options.accept(builder);
    server = builder.start();
    node = RedisNode.connect(server.url());
  }

  private void start() {
    start(options -> {});
  }

  @AfterEach
  void stop() {
    node.close();
    server.close();
  }

  private GrantReply ask(String owner) {
    return answer(SoleFleet.grant(node, new GrantRequest(entry(owner, "r"), TTL, 1)));
  }

  private static void assertNotVoting(GrantReply reply, State state) {
    assertThat(reply)
        .isInstanceOfSatisfying(
            NotVoting.class, notVoting -> assertThat(notVoting.status().state()).isEqualTo(state));
  }

  private State state() {
    return SoleFleet.status(node).state();
  }

  private String run() {
    return String.valueOf(server.command("INFO", "server"))
        .lines()
        .filter(line -> line.startsWith("run_id:"))
        .findFirst()
        .orElseThrow()
        .substring(7);
  }

  @Test
  void newServerDoesNotVoteBeforeItIsAdmitted() {
    start();
    assertThat(state()).isEqualTo(State.UNMARKED);
    assertNotVoting(ask("a"), State.UNMARKED);
    assertThat(server.command("DBSIZE")).as("nothing was written").isEqualTo(0L);
    NodeStatus admitted = admit(node);
    assertThat(admitted.state()).isEqualTo(State.VOTING);
    assertThat(admitted.identity()).contains(run());
    assertThat(ask("a")).isInstanceOf(GrantReply.Granted.class);
    assertThat(String.valueOf(server.command("HVALS", MARKER)))
        .contains(" " + run().substring(0, 12) + " 0 voting");
  }

  @Test
  void quarantineLastsAsLongAsItWasOrderedByTheServersClock() {
    start();
    NodeStatus quarantined = SoleFleet.admit(node, SoleFleet.status(node), 400);
    assertThat(quarantined.state()).isEqualTo(State.QUARANTINED);
    assertThat(quarantined.remaining()).isBetween(Duration.ofMillis(1), Duration.ofMillis(400));
    assertThat(quarantined.describe()).contains("quarantined for another 1 s: it had forgotten");
    assertNotVoting(ask("a"), State.QUARANTINED);
    await().until(() -> ask("a") instanceof GrantReply.Granted);
    assertThat(state()).isEqualTo(State.VOTING);
  }

  @Test
  void flushIsNoticedByTheVeryRequestThatMeetsIt() {
    start();
    admit(node);
    granted(node, entry("a", "r"), 5);
    server.command("FLUSHALL");
    assertNotVoting(ask("b"), State.UNMARKED);
    assertThat(state()).isEqualTo(State.UNMARKED);
    assertThat(server.command("EXISTS", "lukko:{r}")).isEqualTo(0L);
  }

  @ParameterizedTest
  @EnumSource
  void markerThatIsGarbageCountsAsNone(RedisKeyFormat format) {
    start();
    try (RedisNode other = RedisNode.builder().keyFormat(format).connect(server.url())) {
      String field = "sole 1000";
      for (String garbage : List.of("", "x", "a b c", run(), "sole 1000 0 x y z 0 voting")) {
        server.command("HSET", format.records(), field, garbage);
        assertThat(SoleFleet.status(other).state()).as(garbage).isEqualTo(State.UNMARKED);
        assertThat(answer(SoleFleet.grant(other, new GrantRequest(entry("a", "r"), TTL, 1))))
            .isInstanceOf(NotVoting.class);
        assertThat(admit(other).state()).isEqualTo(State.VOTING);
      }
      server.command("DEL", format.records());
      server.command("LPUSH", format.records(), "x");
      assertThat(answer(SoleFleet.grant(other, new GrantRequest(entry("a", "r"), TTL, 1))))
          .isInstanceOf(NotVoting.class);
    }
  }

  @Test
  void restartWithItsDataIsRestartedAndDoesNotVoteBeforeItIsAdmitted() {
    start(RedisServer.Builder::appendOnly);
    admit(node);
    granted(node, entry("a", "r"), 5);
    String before = run();
    server.restart();
    await().until(() -> ask("b") instanceof NotVoting);
    assertNotVoting(ask("b"), State.RESTARTED);
    NodeStatus seen = SoleFleet.status(node);
    assertThat(seen.state()).isEqualTo(State.RESTARTED);
    assertThat(seen.identity()).contains(run()).isNotEqualTo(before);
    // who holds may extend and release all the same
    assertThat(answer(node.extend(entry("a", "r"), TTL))).isEqualTo(new ExtendReply.Extended());
    assertThat(release(node, entry("a", "r"))).isEqualTo(new ReleaseReply.Released());
    NodeStatus quarantined = SoleFleet.admit(node, seen, 60_000);
    assertThat(quarantined.describe())
        .matches("quarantined for another 60 s: restarted at \\d{4}-.*Z");
    assertNotVoting(ask("b"), State.QUARANTINED);
  }

  @Test
  void restartWithoutDataIsUnmarked() {
    start();
    admit(node);
    granted(node, entry("a", "r"), 5);
    server.restart();
    await().until(() -> ask("b") instanceof NotVoting);
    assertNotVoting(ask("b"), State.UNMARKED);
  }

  @Test
  void admissionOnAnOutdatedViewChangesNothing() {
    start(RedisServer.Builder::appendOnly);
    NodeStatus unmarked = SoleFleet.status(node);
    try (RedisNode other = RedisNode.connect(server.url())) {
      SoleFleet.admit(other, SoleFleet.status(other), 60_000);
    }
    assertThat(SoleFleet.admit(node, unmarked, 0).state()).isEqualTo(State.QUARANTINED);
    server.restart();
    await().until(() -> state() == State.RESTARTED);
    assertThat(SoleFleet.admit(node, unmarked, 0).state())
        .as("seen before the restart")
        .isEqualTo(State.RESTARTED);
    NodeStatus restarted = SoleFleet.status(node);
    server.command("FLUSHALL");
    assertThat(SoleFleet.admit(node, restarted, 0).state())
        .as("seen before the flush")
        .isEqualTo(State.UNMARKED);
  }

  @Test
  void restartIsNoticedByAConnectionThatIsMadeAnewAndAdmittedMeanwhileByAnother() {
    start(RedisServer.Builder::appendOnly);
    admit(node);
    server.restart();
    try (RedisNode other = RedisNode.connect(server.url())) {
      await().until(() -> SoleFleet.status(other).state() == State.RESTARTED);
      admit(other);
    }
    SoleFleet.status(node);
    await()
        .until(
            () ->
                SoleFleet.status(node).state() == State.VOTING
                    && ask("a") instanceof GrantReply.Granted);
  }

  @Test
  void replicaIsUnfitUntilItIsPromotedAndThenRestarted() {
    start();
    try (RedisServer master = RedisServer.start();
        RedisNode ofMaster = Requests.admitted(RedisNode.connect(master.url()))) {
      server.command("REPLICAOF", "127.0.0.1", Integer.toString(master.port()));
      await().until(() -> String.valueOf(server.command("HVALS", MARKER)).length() > 40);
      assertThat(state()).isEqualTo(State.UNFIT);
      try (RedisNode replica = RedisNode.connect(server.url())) {
        NodeStatus status = answer(replica.status());
        assertThat(status.state()).isEqualTo(State.UNFIT);
        assertThat(status.identity()).contains(run());
        assertThat(status.detail()).contains("replica of 127.0.0.1:" + master.port());
        GrantReply reply =
            answer(SoleFleet.grant(replica, new GrantRequest(entry("a", "r"), TTL, 1)));
        assertNotVoting(reply, State.UNFIT);
        granted(ofMaster, entry("a", "r"), 1);
        server.command("REPLICAOF", "NO", "ONE");
        await().until(() -> SoleFleet.status(replica).state() == State.RESTARTED);
        assertNotVoting(
            answer(SoleFleet.grant(replica, new GrantRequest(entry("b", "r"), TTL, 1))),
            State.RESTARTED);
      }
    }
  }

  @Test
  void otherServerBehindTheSameAddressIsUnfitUntilTheFormerOneIsBack() {
    start();
    try (RedisServer other = RedisServer.start();
        RedisNode ofOther = Requests.admitted(RedisNode.connect(other.url()))) {
      await().until(() -> uptimeSeconds(other) >= 3);
      int port;
      try (FaultProxy balancer = FaultProxy.to(server);
          RedisNode balanced = Requests.admitted(RedisNode.connect(balancer.url("redis")))) {
        port = balancer.port();
        granted(balanced, entry("a", "r"), 1);
        balancer.leadTo(other);
        balancer.resetConnections();
        await()
            .untilAsserted(
                () ->
                    assertNotVoting(
                        answer(
                            SoleFleet.grant(balanced, new GrantRequest(entry("b", "r"), TTL, 1))),
                        State.UNFIT));
        NodeStatus status = answer(balanced.status());
        assertThat(status.state()).isEqualTo(State.UNFIT);
        assertThat(status.detail()).contains("another server").contains(run());
        CompletableFuture<ReleaseReply> release =
            balanced.release(entry("a", "r")).toCompletableFuture();
        assertThat(answer(release)).isInstanceOf(dev.lukko.spi.Unknown.class);
        assertThat(other.command("EXISTS", "lukko:{r}")).as("no vote").isEqualTo(0L);
        balancer.leadTo(server);
        await().until(() -> answer(balanced.status()).state() == State.VOTING);
        // the release was kept for the server that it is meant for
        await().until(() -> server.command("EXISTS", "lukko:{r}").equals(0L));
      }
      assertThat(port).isPositive();
    }
  }

  private static long uptimeSeconds(RedisServer server) {
    return String.valueOf(server.command("INFO", "server"))
        .lines()
        .filter(line -> line.startsWith("uptime_in_seconds:"))
        .mapToLong(line -> Long.parseLong(line.substring(18)))
        .sum();
  }

  @Test
  void clusterMemberVotesAloneWithoutAMarkerAndSaysSo() {
    start(options -> options.config("cluster-enabled yes"));
    server.command("CLUSTER", "ADDSLOTSRANGE", "0", "16383");
    await().until(() -> ask("a") instanceof GrantReply.Granted);
    NodeStatus status = answer(node.status());
    assertThat(status.state()).isEqualTo(State.VOTING);
    assertThat(status.traits()).contains(Trait.CLUSTER_MEMBER);
    assertThat(server.command("EXISTS", MARKER)).isEqualTo(0L);
  }

  @Test
  void settingsThatMakeAServerLessSafeAreReported() {
    start();
    assertThat(answer(node.status()).warnings()).isEmpty();
    assertThat(answer(node.status()).traits()).containsExactly(Trait.FORGETFUL);
    server.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
    assertThat(answer(node.status()).warnings())
        .singleElement()
        .asString()
        .contains("maxmemory-policy is allkeys-lru")
        .contains("as soon as maxmemory is set");
    server.command("CONFIG", "SET", "maxmemory", "100mb");
    assertThat(answer(node.status()).warnings())
        .singleElement()
        .asString()
        .contains("drops locks that are held");
    server.command("CONFIG", "SET", "save", "3600 1");
    assertThat(answer(node.status()).traits()).isEmpty();
  }

  @Test
  void serverThatDoesNotTellItsSettingsIsJudgedByTheRest() {
    start();
    server.command(
        "ACL", "SETUSER", "lock", "on", ">pw", "~lukko:*", "&lukko:*", "+@all", "-config");
    try (RedisNode limited =
        Requests.admitted(RedisNode.connect(server.url().replace("//", "//lock:pw@")))) {
      granted(limited, entry("a", "r"), 1);
      assertThat(answer(limited.status()).traits()).isEmpty();
    }
  }

  @Test
  void serverThatDoesNotTellWhoItIsIsNotAskedForAnythingElse() {
    start();
    server.command("ACL", "SETUSER", "lock", "on", ">pw", "~*", "&*", "+@all", "-info");
    try (RedisNode limited = RedisNode.connect(server.url().replace("//", "//lock:pw@"))) {
      assertThat(answer(SoleFleet.grant(limited, new GrantRequest(entry("a", "r"), TTL, 1))))
          .isInstanceOfSatisfying(
              dev.lukko.spi.Failed.class,
              failed -> assertThat(failed.detail()).startsWith("NOPERM: ").contains("info"));
      assertThat(answer(limited.status()).state()).isEqualTo(State.UNREACHABLE);
      server.command("ACL", "SETUSER", "lock", "+info");
      await()
          .until(() -> Requests.grant(limited, entry("a", "r"), 1) instanceof GrantReply.Granted);
    }
  }

  @Test
  void identityIsTheFirstQuestionOnANewConnection() {
    start();
    admit(node);
    try (FaultProxy proxy = FaultProxy.to(server);
        RedisNode proxied = RedisNode.connect(proxy.url("redis"));
        MonitorTap tap = MonitorTap.on(server)) {
      proxy.resetConnections();
      await()
          .until(() -> Requests.grant(proxied, entry("a", "r"), 1) instanceof GrantReply.Granted);
      List<String> words =
          tap.requests().stream()
              .map(line -> line.replaceAll("^[^\"]*\"([^\"]*)\".*", "$1"))
              .filter(word -> !word.equalsIgnoreCase("CLIENT") && !word.equalsIgnoreCase("HELLO"))
              .toList();
      // the questions for settings are not shown by MONITOR
      assertThat(words).startsWith("INFO", "HGETALL", "TIME").contains("EVALSHA");
    }
  }

  @Test
  void hungServerDoesNotKeepTheFirstConnectionWaiting() {
    start();
    try (FaultProxy proxy = FaultProxy.to(server)) {
      var held = proxy.holdNext(FaultProxy.Direction.TO_SERVER, Requests.has("INFO"));
      try (RedisNode slow =
          RedisNode.builder().connectTimeout(Duration.ofMillis(300)).connect(proxy.url("redis"))) {
        assertThat(held.arrival()).succeedsWithin(Requests.BOUND);
        assertThat(answer(SoleFleet.grant(slow, new GrantRequest(entry("a", "r"), TTL, 1))))
            .isInstanceOf(dev.lukko.spi.Failed.class);
        await().until(() -> Requests.grant(slow, entry("a", "r"), 1) instanceof GrantReply.Granted);
      }
    }
  }
}
