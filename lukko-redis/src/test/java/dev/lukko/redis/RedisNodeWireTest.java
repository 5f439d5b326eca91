package dev.lukko.redis;

import static dev.lukko.redis.testing.Requests.TTL;
import static dev.lukko.redis.testing.Requests.answer;
import static dev.lukko.redis.testing.Requests.entry;
import static dev.lukko.redis.testing.Requests.grant;
import static dev.lukko.redis.testing.Requests.granted;
import static dev.lukko.redis.testing.Requests.has;
import static dev.lukko.redis.testing.Requests.release;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lukko.redis.protocol.Script;
import dev.lukko.redis.protocol.Wire;
import dev.lukko.redis.testing.Requests;
import dev.lukko.spi.Failed;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.spi.Unknown;
import dev.lukko.testkit.FaultProxy;
import dev.lukko.testkit.FaultProxy.Direction;
import dev.lukko.testkit.HeldPacket;
import dev.lukko.testkit.MonitorTap;
import dev.lukko.testkit.RedisServer;
import dev.lukko.testkit.SoleFleet;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What reaches the server, how often and in which order, whatever happens to the connection. */
class RedisNodeWireTest {
  private RedisServer server;
  private FaultProxy proxy;
  private RedisNode node;
  private MonitorTap tap;

  @BeforeEach
  void start() {
    server = RedisServer.start();
    proxy = FaultProxy.to(server);
    node = RedisNode.connect(proxy.url("redis"));
    granted(node, entry("warm", "warm"), 1);
    release(node, entry("warm", "warm"));
    tap = MonitorTap.on(server);
  }

  @AfterEach
  void stop() {
    node.close();
    tap.close();
    proxy.close();
    server.close();
  }

  private long timesSeen(Script script, String owner) {
    return tap.requests().stream()
        .filter(line -> line.contains(script.digest()) || line.contains("-- returns"))
        .filter(line -> line.contains("\"" + owner + "\""))
        .filter(line -> !line.contains("\"EVAL\"") || line.contains(header(script)))
        .count();
  }

  private static String header(Script script) {
    return script == Script.GRANT ? "-- Grants the entry" : "-- Deletes what the owner";
  }

  @Test
  void eachVerbIsOneRoundTrip() {
    granted(node, entry("a", "r"), 5);
    Requests.confirm(node, entry("a", "r"), 6);
    Requests.extend(node, entry("a", "r"), TTL);
    release(node, entry("a", "r"));
    // the scripts of confirm and extend were new to the server: their text goes once
    assertThat(tap.requests()).hasSize(6);
    tap.close();
    tap = MonitorTap.on(server);
    granted(node, entry("a", "r"), 7);
    Requests.confirm(node, entry("a", "r"), 8);
    Requests.extend(node, entry("a", "r"), TTL);
    release(node, entry("a", "r"));
    assertThat(tap.requests()).hasSize(4).allMatch(line -> line.contains("\"EVALSHA\""));
  }

  @Test
  void scriptFlushCostsOneMoreRoundTripAndNoError() {
    server.command("SCRIPT", "FLUSH");
    granted(node, entry("a", "r"), 5);
    assertThat(release(node, entry("a", "r"))).isEqualTo(new ReleaseReply.Released());
    assertThat(tap.requests()).filteredOn(line -> line.contains("\"EVAL\"")).hasSize(2);
    assertThat(tap.requests()).noneMatch(line -> line.contains("\"LOAD\""));
  }

  @Test
  void grantWhoseReplyIsCutOffIsUnknownAndNeverSentAgain() {
    CompletableFuture<byte[]> lost = proxy.resetAtNextReply(has("owner-1"));
    assertThat(grant(node, entry("owner-1", "r"), 5))
        .isInstanceOfSatisfying(
            Unknown.class, unknown -> assertThat(unknown.detail()).startsWith("connection lost"));
    assertThat(lost).succeedsWithin(Requests.BOUND);
    assertThat(server.command("GET", "lukko:{r}")).isEqualTo("owner-1");

    assertThat(awaitConnected("other").counter()).isPositive();
    answer(node.release(entry("owner-1", "r")));
    await().until(() -> server.command("GET", "lukko:{r}") == null);
    assertThat(timesSeen(Script.GRANT, "owner-1")).isEqualTo(1);
    assertThat(server.command("GET", "lukko:{r}:token")).isEqualTo("5");
  }

  @Test
  void grantThatNeverArrivedIsNotSentAfterTheReconnect() {
    proxy.resetAtNextRequest(has("owner-1"));
    assertThat(grant(node, entry("owner-1", "r"), 5)).isInstanceOf(Unknown.class);
    awaitConnected("other");
    assertThat(timesSeen(Script.GRANT, "owner-1")).isZero();
    assertThat(server.command("EXISTS", "lukko:{r}")).isEqualTo(0L);
  }

  @Test
  void requestsUnderWayAtAResetAllFailAndNoneIsRepeated() {
    proxy.hold(Direction.TO_CLIENT);
    List<CompletableFuture<GrantReply>> replies = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      replies.add(
          SoleFleet.grant(node, new GrantRequest(entry("owner-" + i, "r" + i), TTL, 5))
              .toCompletableFuture());
    }
    await().until(() -> server.command("EXISTS", "lukko:{r49}").equals(1L));
    proxy.resetConnections();
    proxy.heal();
    assertThat(replies).allSatisfy(reply -> assertThat(answer(reply)).isInstanceOf(Unknown.class));
    awaitConnected("other");
    for (int i = 0; i < 50; i++) {
      assertThat(timesSeen(Script.GRANT, "owner-" + i)).isEqualTo(1);
    }
  }

  @Test
  void releaseLostToAResetIsSentAgain() {
    granted(node, entry("owner-1", "r"), 5);
    proxy.resetAtNextRequest(has("owner-1"));
    assertThat(release(node, entry("owner-1", "r"))).isInstanceOf(Unknown.class);
    await().until(() -> server.command("GET", "lukko:{r}") == null);
    assertThat(timesSeen(Script.RELEASE, "owner-1")).isEqualTo(1);
  }

  @Test
  void releaseMadeWhileDisconnectedComesBeforeAnyNewGrant() {
    granted(node, entry("owner-1", "r"), 5);
    proxy.cut();
    await().until(() -> grant(node, entry("x", "x"), 1) instanceof Failed);
    assertThat(release(node, entry("owner-1", "r"))).isInstanceOf(Unknown.class);
    proxy.heal();
    GrantReply first = grant(node, entry("owner-2", "r"), 1);
    while (first instanceof Failed) {
      Thread.onSpinWait();
      first = grant(node, entry("owner-2", "r"), 1);
    }
    assertThat(first).isEqualTo(new GrantReply.Granted(6));
  }

  @Test
  void releaseIsAppliedBehindTheGrantThatAStoppedServerRunsLate() {
    server.pause();
    var grant =
        SoleFleet.grant(node, new GrantRequest(entry("owner-1", "r"), TTL, 5))
            .toCompletableFuture();
    var release = node.release(entry("owner-1", "r")).toCompletableFuture();
    assertThat(grant).isNotDone();
    server.resume();
    assertThat(answer(grant)).isEqualTo(new GrantReply.Granted(5));
    assertThat(answer(release)).isEqualTo(new ReleaseReply.Released());
    assertThat(server.command("EXISTS", "lukko:{r}")).isEqualTo(0L);
  }

  @Test
  void lateGrantOnAConnectionThatWasGivenUpIsReleasedAfterTheReconnect() {
    try (RedisNode impatient =
        RedisNode.builder().commandTimeout(Duration.ofMillis(100)).connect(server.url())) {
      SoleFleet.admit(impatient);
      server.pause();
      assertThat(grant(impatient, entry("owner-1", "r"), 5)).isInstanceOf(Unknown.class);
      await().until(() -> impatient.toString().contains("not connected"));
      assertThat(release(impatient, entry("owner-1", "r"))).isInstanceOf(Unknown.class);
      server.resume();
      await().until(() -> timesSeen(Script.RELEASE, "owner-1") > 0);
      assertThat(server.command("GET", "lukko:{r}:token")).as("the grant was run").isEqualTo("5");
      assertThat(server.command("EXISTS", "lukko:{r}")).isEqualTo(0L);
      assertThat(timesSeen(Script.GRANT, "owner-1")).isEqualTo(1);
    }
  }

  @Test
  void grantThatMustBeSentAgainWithItsTextIsNotOnceItsOwnerReleases() throws Exception {
    server.command("SCRIPT", "FLUSH");
    HeldPacket noscript = proxy.holdNext(Direction.TO_CLIENT, has("NOSCRIPT"));
    var grant =
        SoleFleet.grant(node, new GrantRequest(entry("owner-1", "r"), TTL, 5))
            .toCompletableFuture();
    noscript.arrival().get(30, TimeUnit.SECONDS);
    var release = node.release(entry("owner-1", "r")).toCompletableFuture();
    noscript.release();
    assertThat(answer(grant))
        .isInstanceOfSatisfying(
            Failed.class, failed -> assertThat(failed.detail()).startsWith(Failed.WITHDRAWN));
    assertThat(answer(release)).isEqualTo(new ReleaseReply.NotHeld());
    assertThat(server.command("EXISTS", "lukko:{r}")).isEqualTo(0L);
  }

  @Test
  void releaseFromAThreadOfTheDriverDoesNotOvertakeTheGrantOfAnotherThread() throws Exception {
    CountDownLatch inDriver = new CountDownLatch(1);
    CountDownLatch grantHandedOver = new CountDownLatch(1);
    CompletableFuture<ReleaseReply> release = new CompletableFuture<>();
    HeldPacket reply = proxy.holdNext(Direction.TO_CLIENT, bytes -> true);
    var inspected =
        node.inspect("r")
            .thenCompose(
                unused -> {
                  inDriver.countDown();
                  awaitQuietly(grantHandedOver);
                  return node.release(entry("owner-1", "r"));
                })
            .thenAccept(release::complete);
    reply.release(); // only now can the callback run, in the driver's thread
    assertThat(inDriver.await(30, TimeUnit.SECONDS)).isTrue();
    var grant =
        SoleFleet.grant(node, new GrantRequest(entry("owner-1", "r"), TTL, 5))
            .toCompletableFuture();
    grantHandedOver.countDown();
    assertThat(answer(grant)).isEqualTo(new GrantReply.Granted(5));
    assertThat(answer(release)).isEqualTo(new ReleaseReply.Released());
    assertThat(inspected.toCompletableFuture()).succeedsWithin(Requests.BOUND);
    assertThat(server.command("EXISTS", "lukko:{r}")).isEqualTo(0L);
  }

  @Test
  void connectionThatWentSilentIsGivenUpAndReplaced() {
    try (RedisNode impatient =
        RedisNode.builder().commandTimeout(Duration.ofMillis(200)).connect(proxy.url("redis"))) {
      CompletableFuture<byte[]> lost = proxy.loseNextReply(has("owner-1"));
      assertThat(grant(impatient, entry("owner-1", "r"), 5)).isInstanceOf(Unknown.class);
      assertThat(lost).succeedsWithin(Requests.BOUND);
      await().until(() -> grant(impatient, entry("b", "s"), 5) instanceof GrantReply.Granted);
    }
  }

  @Test
  void grantsAreLimitedWhileAServerHangsSoThatReleasesFindRoom() {
    server.pause();
    List<CompletableFuture<GrantReply>> grants = new ArrayList<>();
    for (int i = 0; i < Wire.MAX_OUTSTANDING; i++) {
      var entry = entry("owner", "r" + i);
      grants.add(SoleFleet.grant(node, new GrantRequest(entry, TTL, 5)).toCompletableFuture());
    }
    assertThat(grant(node, entry("one more", "s"), 5))
        .isInstanceOfSatisfying(
            Failed.class, failed -> assertThat(failed.detail()).startsWith("not sent: "));
    List<CompletableFuture<ReleaseReply>> releases = new ArrayList<>();
    for (int i = 0; i < Wire.MAX_OUTSTANDING; i++) {
      releases.add(node.release(entry("owner", "r" + i)).toCompletableFuture());
    }
    server.resume();
    assertThat(grants)
        .allSatisfy(reply -> assertThat(answer(reply)).isInstanceOf(GrantReply.Granted.class));
    assertThat(releases)
        .allSatisfy(reply -> assertThat(answer(reply)).isInstanceOf(ReleaseReply.Released.class));
    granted(node, entry("a", "s"), 5);
  }

  /** Asks until there is a connection again. */
  private GrantReply.Granted awaitConnected(String owner) {
    await().until(() -> grant(node, entry(owner, owner), 1) instanceof GrantReply.Granted);
    return (GrantReply.Granted) grant(node, entry(owner, owner), 1);
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await(30, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
