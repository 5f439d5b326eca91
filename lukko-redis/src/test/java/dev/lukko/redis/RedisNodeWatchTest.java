package dev.lukko.redis;

import static dev.lukko.redis.testing.Requests.entry;
import static dev.lukko.redis.testing.Requests.granted;
import static dev.lukko.redis.testing.Requests.refused;
import static dev.lukko.redis.testing.Requests.release;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lukko.Lease;
import dev.lukko.LockRequest;
import dev.lukko.redis.format.RedisKeyFormat;
import dev.lukko.redis.testing.Requests;
import dev.lukko.redlock.Redlock;
import dev.lukko.spi.LockNode.Watch;
import dev.lukko.testkit.FaultProxy;
import dev.lukko.testkit.MonitorTap;
import dev.lukko.testkit.RedisServer;
import dev.lukko.testkit.RedisServers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RedisNodeWatchTest {
  private final AtomicInteger hints = new AtomicInteger();
  private RedisServer server;
  private FaultProxy proxy;
  private RedisNode node;

  @BeforeEach
  void start() {
    server = RedisServer.start();
    proxy = FaultProxy.to(server);
    node = RedisNode.connect(proxy.url("redis"));
  }

  @AfterEach
  void stop() {
    node.close();
    proxy.close();
    server.close();
  }

  private long subscribers(String resource) {
    String channel = RedisKeyFormat.PREFIXED.channel(resource);
    return (Long) ((List<?>) server.command("PUBSUB", "NUMSUB", channel)).get(1);
  }

  private long subscriberConnections() {
    return String.valueOf(server.command("CLIENT", "LIST", "TYPE", "pubsub")).lines().count();
  }

  /** A watch whose subscription is in force. */
  private Watch watching(String resource) {
    int before = hints.get();
    Watch watch = node.watch(resource, hints::incrementAndGet);
    await().until(() -> hints.get() > before);
    return watch;
  }

  @Test
  void hintComesWhenTheSubscriptionIsInForceAndAtEachRelease() {
    try (Watch watch = watching("r")) {
      assertThat(hints).hasValue(1);
      for (int i = 2; i <= 5; i++) {
        granted(node, entry("a", "r"), 1);
        release(node, entry("a", "r"));
        int expected = i;
        await().untilAsserted(() -> assertThat(hints).hasValue(expected));
      }
      release(node, entry("a", "r"));
      granted(node, entry("a", "other"), 1);
      release(node, entry("a", "other"));
      granted(node, entry("a", "r"), 1);
      release(node, entry("a", "r"));
      await().untilAsserted(() -> assertThat(hints).hasValue(6));
    }
  }

  @Test
  void noConnectionIsMadeBeforeTheFirstWatchAndOneServesAllWatches() {
    granted(node, entry("a", "r0"), 1);
    assertThat(subscriberConnections()).isZero();
    List<Watch> watches = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      watches.add(watching("r" + i % 10));
    }
    assertThat(subscriberConnections()).isEqualTo(1);
    assertThat(subscribers("r0")).isEqualTo(1);
    int before = hints.get();
    release(node, entry("a", "r0"));
    await().untilAsserted(() -> assertThat(hints).hasValue(before + 2));
    watches.get(0).close();
    watches.get(0).close();
    granted(node, entry("a", "r0"), 1);
    release(node, entry("a", "r0"));
    await().untilAsserted(() -> assertThat(hints).hasValue(before + 3));
  }

  @Test
  void subscriptionOutlivesAShortGapAndEndsAfterALongOne() {
    try (MonitorTap tap = MonitorTap.on(server)) {
      watching("r").close();
      for (int i = 0; i < 50; i++) {
        node.watch("r", hints::incrementAndGet).close();
      }
      assertThat(tap.requests()).filteredOn(line -> line.contains("SUBSCRIBE")).hasSize(1);
      await().until(() -> subscribers("r") == 0);
      watching("r").close();
    }
  }

  @Test
  void watchGetsItsHintAgainWhenItsConnectionWasBroken() {
    try (Watch watch = watching("r");
        Watch other = watching("s")) {
      int before = hints.get();
      proxy.resetConnections();
      await().until(() -> hints.get() >= before + 2);
      server.command("CLIENT", "KILL", "TYPE", "pubsub");
      await().until(() -> hints.get() >= before + 4);
      server.restart();
      await().until(() -> hints.get() >= before + 6);
      assertThat(subscribers("r")).isEqualTo(1);
      assertThat(subscriberConnections()).isEqualTo(1);
    }
  }

  @Test
  void watchOfAServerThatIsDownGetsItsHintWhenItIsUp() {
    server.kill();
    try (Watch watch = node.watch("r", hints::incrementAndGet)) {
      server.restart();
      await().until(() -> hints.get() > 0);
    }
  }

  @Test
  void missingRightToSubscribeIsRepairedWithoutARestart() {
    server.command("ACL", "SETUSER", "lock", "on", ">pw", "~*", "resetchannels", "+@all");
    try (RedisNode limited = RedisNode.connect(server.url().replace("//", "//lock:pw@"));
        Watch watch = limited.watch("r", hints::incrementAndGet)) {
      granted(limited, entry("a", "r"), 1);
      assertThat(hints).hasValue(0);
      server.command("ACL", "SETUSER", "lock", "&lukko:*");
      await().until(() -> hints.get() > 0);
    }
  }

  @Test
  void releaseHeardBetweenTheGrantAndTheWatchIsNotMissedAndAnOldOneCausesNoHint() {
    AtomicInteger others = new AtomicInteger();
    Watch keepingIt = node.watch("r", others::incrementAndGet);
    await().until(() -> others.get() == 1);
    granted(node, entry("a", "r"), 1);
    refused(node, entry("b", "r"), 1);
    release(node, entry("a", "r"));
    await().until(() -> others.get() == 2);
    node.watch("r", hints::incrementAndGet).close();
    assertThat(hints).as("released after b had asked").hasValue(1);
    granted(node, entry("a", "r"), 1);
    node.watch("r", hints::incrementAndGet).close();
    assertThat(hints).as("nothing was released since a asked").hasValue(1);
    keepingIt.close();
  }

  @Test
  void hintThatThrowsDoesNotSpoilTheOthers() {
    try (Watch broken =
            node.watch(
                "r",
                () -> {
                  throw new IllegalStateException("a broken hint");
                });
        Watch watch = watching("r")) {
      int before = hints.get();
      granted(node, entry("a", "r"), 1);
      release(node, entry("a", "r"));
      await().until(() -> hints.get() > before);
    }
  }

  @Test
  void closedNodeHasNoConnectionAndGivesNoHints() {
    watching("r");
    node.close();
    assertThat(subscriberConnections()).isZero();
    int before = hints.get();
    node.watch("r", hints::incrementAndGet).close();
    assertThat(hints).hasValue(before);
  }

  @Test
  void releaseCostsOneRequestAndAGrantOfTheWaiterAtEachNodeWithoutPolling() {
    try (RedisServers servers = RedisServers.start(5);
        Redlock holder = patientClient(servers);
        Redlock waiter = patientClient(servers)) {
      Lease held = holder.acquire(LockRequest.of("r", Duration.ofMinutes(5)));
      CompletableFuture<Lease> waiting =
          waiter.acquireAsync(
              LockRequest.builder("r")
                  .ttl(Duration.ofMinutes(5))
                  .maxWait(Duration.ofMinutes(5))
                  .build());
      // refused, subscribed, and refused again
      List<MonitorTap> taps = new ArrayList<>();
      for (RedisServer each : servers.all()) {
        await()
            .until(
                () ->
                    String.valueOf(each.command("INFO", "commandstats"))
                        .lines()
                        .anyMatch(line -> line.startsWith("cmdstat_subscribe:calls=1,")));
      }
      await()
          .untilAsserted(
              () ->
                  assertThat(servers.all())
                      .allSatisfy(each -> assertThat(grantsAt(each)).isGreaterThanOrEqualTo(3)));
      servers.all().forEach(each -> taps.add(MonitorTap.on(each)));
      held.close();
      assertThat(waiting).succeedsWithin(Requests.BOUND);
      for (MonitorTap tap : taps) {
        // A release and a grant; on a busy machine the first hints may come before a majority is
        // free, and a round or two is lost to that. Polling would be dozens.
        assertThat(tap.requests()).hasSizeBetween(1, 6);
        tap.close();
      }
      waiting.join().close();
    }
  }

  private static long grantsAt(RedisServer server) {
    return String.valueOf(server.command("INFO", "commandstats"))
        .lines()
        .filter(line -> line.startsWith("cmdstat_eval"))
        .mapToLong(line -> Long.parseLong(line.replaceAll("^\\w+:calls=(\\d+),.*", "$1")))
        .sum();
  }

  private static Redlock patientClient(RedisServers servers) {
    return Redlock.builder()
        .nodes(RedisNode.connectAll(servers.urls().toArray(String[]::new)))
        .retryDelay(Duration.ofMinutes(5))
        .build();
  }
}
