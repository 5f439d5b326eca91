package dev.lukko.jdbc;

import static dev.lukko.jdbc.JdbcNodeContract.entry;
import static dev.lukko.jdbc.JdbcNodeContract.now;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.Failed;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantReply.Granted;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.NodeFault;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.spi.Unknown;
import dev.lukko.testkit.FaultProxy;
import dev.lukko.testkit.FaultProxy.Direction;
import dev.lukko.testkit.HeldPacket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A real server behind a network that fails. */
class PostgresFaultsTest {
  private static final long TTL = 60_000;
  private static final Duration PATIENT = Duration.ofSeconds(30);
  private static final Duration IMPATIENT = Duration.ofMillis(400);

  private TestDatabase database;
  private FaultProxy proxy;
  private String url;
  private JdbcNode node;

  @BeforeEach
  void open() throws Exception {
    database = Databases.postgres();
    String direct;
    try (var connection = database.source().getConnection()) {
      direct = connection.getMetaData().getURL();
    }
    int port = Integer.parseInt(direct.replaceFirst(".*:(\\d+)/.*", "$1"));
    proxy = FaultProxy.to(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    url = direct.replace("localhost:" + port, "127.0.0.1:" + proxy.port());
    assertThat(url).contains(":" + proxy.port());
  }

  @AfterEach
  void close() {
    proxy.heal();
    if (node != null) {
      node.close();
    }
    proxy.close();
  }

  private JdbcNode node(Duration requestTimeout) {
    return builder(requestTimeout).build();
  }

  private JdbcNodeBuilder builder(Duration requestTimeout) {
    return JdbcNode.builder(url).name("proxied").requestTimeout(requestTimeout);
  }

  private CompletionStage<GrantReply> grant(LockEntry entry) {
    return node.grant(new GrantRequest(entry, TTL, 1));
  }

  private static boolean has(byte[] packet, String text) {
    return new String(packet, StandardCharsets.ISO_8859_1).contains(text);
  }

  @Test
  void serverHangs_everyVerbCompletes_asNotKnownOrNotSent() {
    node = node(IMPATIENT);
    now(grant(entry("held", "held")));
    proxy.hold();

    List<CompletionStage<?>> replies = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      LockEntry entry = entry("o" + i, "r" + i);
      replies.add(grant(entry));
      replies.add(node.confirm(entry, 5));
      replies.add(node.extend(entry, TTL));
      replies.add(node.repair(entry, TTL, 5, Long.MAX_VALUE));
      replies.add(node.release(entry));
    }
    for (CompletionStage<?> reply : replies) {
      assertThat(now(reply)).isInstanceOf(NodeFault.class);
    }
    assertThat(node.inspect("r").toCompletableFuture())
        .failsWithin(PATIENT)
        .withThrowableOfType(java.util.concurrent.ExecutionException.class);
  }

  @Test
  void grantThatIsNotAnswered_isUnknown_andItsReleaseIsSentWhenTheServerIsBack() {
    database.createRow("r");
    node = node(IMPATIENT);
    LockEntry entry = entry("a", "r");
    proxy.hold(Direction.TO_CLIENT);
    // The first connection is kept, so the grant reaches the server and its answer is lost.
    assertThat(now(grant(entry))).isInstanceOf(Unknown.class);
    await().until(() -> database.holders("r") == 1);
    assertThat(now(node.release(entry))).isInstanceOf(NodeFault.class);
    assertThat(node.keptReleases()).isEqualTo(1);

    proxy.heal();

    await().until(() -> database.holders("r") == 0);
    await().until(() -> node.keptReleases() == 0);
    assertThat(node.rememberedOwners()).isZero();
  }

  @Test
  void grantThatIsAppliedAfterItsRelease_isReleasedAgain() {
    database.createRow("r");
    node = node(IMPATIENT);
    LockEntry entry = entry("late", "r");
    HeldPacket held = proxy.holdNext(Direction.TO_SERVER, packet -> has(packet, "late"));
    assertThat(now(grant(entry))).isInstanceOf(Unknown.class);
    assertThat(held.arrival()).isCompleted();

    // The release overtakes the grant on another connection: "not held" is not the last word.
    assertThat(now(node.release(entry))).isEqualTo(new ReleaseReply.NotHeld());
    assertThat(node.keptReleases()).isEqualTo(1);
    held.release();

    await().until(() -> database.counter("r") > 0);
    await().until(() -> database.holders("r") == 0);
    await().until(() -> node.keptReleases() == 0);
  }

  @Test
  void releaseBehindASlowGrant_isAppliedAfterIt() {
    node = node(PATIENT);
    LockEntry entry = entry("slow", "r");
    HeldPacket held = proxy.holdNext(Direction.TO_SERVER, packet -> has(packet, "slow"));
    CompletionStage<GrantReply> grant = grant(entry);
    assertThat(held.arrival()).succeedsWithin(PATIENT);
    CompletionStage<ReleaseReply> release = node.release(entry);
    // Other owners pass meanwhile, over other connections.
    assertThat(now(grant(entry("other", "s")))).isEqualTo(new Granted(1));
    assertThat(release.toCompletableFuture()).isNotDone();

    held.release();

    assertThat(now(grant)).isEqualTo(new Granted(1));
    assertThat(now(release)).isEqualTo(new ReleaseReply.Released());
    assertThat(database.holders("r")).isZero();
  }

  @Test
  void serverIsDown_requestsFail_andAReleaseIsKeptUntilItIsBack() {
    node = node(PATIENT);
    LockEntry entry = entry("a", "r");
    now(grant(entry));
    proxy.cut();

    // The broken connection may be noticed in the first request only.
    assertThat(now(node.release(entry))).isInstanceOf(NodeFault.class);
    assertThat(now(grant(entry("b", "s")))).isInstanceOf(Failed.class);
    assertThat(now(node.extend(entry, TTL))).isInstanceOf(Failed.class);
    assertThat(database.holders("r")).isEqualTo(1);

    proxy.heal();

    await().until(() -> database.holders("r") == 0);
    assertThat(now(grant(entry("b", "r")))).isInstanceOf(Granted.class);
  }

  @Test
  void keptRelease_isDroppedWhenTheEntryMustHaveExpired() {
    node = node(IMPATIENT);
    LockEntry entry = entry("a", "r");
    now(node.grant(new GrantRequest(entry, 100, 1)));
    proxy.cut();
    assertThat(now(node.release(entry))).isInstanceOf(NodeFault.class);
    assertThat(node.keptReleases()).isEqualTo(1);

    await().until(() -> node.keptReleases() == 0);
    assertThat(node.rememberedOwners()).isZero();
  }

  @Test
  void nodeThatStartsWithoutItsServer_joinsWhenItComesUp() {
    proxy.refuseConnections();
    node = node(PATIENT);
    assertThat(now(grant(entry("a", "r")))).isInstanceOf(Failed.class);

    proxy.heal();

    assertThat(now(grant(entry("a", "r")))).isEqualTo(new Granted(1));
  }

  @Test
  void answerThatIsLost_isUnknown_andTheRepeatedGrantGetsTheStoredNumber() {
    database.createRow("r");
    node = node(PATIENT);
    LockEntry entry = entry("lost", "r");
    proxy.resetAtNextReply(packet -> has(packet, "lost"));
    assertThat(now(grant(entry))).isInstanceOf(Unknown.class);
    assertThat(now(node.grant(new GrantRequest(entry, TTL, 50)))).isEqualTo(new Granted(1));
    assertThat(now(node.extend(entry, TTL))).isEqualTo(new ExtendReply.Extended());
  }

  @Test
  void connectionsThatWereKilledWhileIdle_costOneFaultAtMost() {
    node = node(PATIENT);
    now(grant(entry("a", "r")));
    proxy.resetConnections();
    await().until(() -> now(node.extend(entry("a", "r"), TTL)) instanceof ExtendReply.Extended);
  }

  @Test
  void queueIsFull_moreRequestsFailAtOnce() {
    node = builder(PATIENT).maxConnections(1).queueCapacity(2).build();
    LockEntry entry = entry("first", "r");
    HeldPacket held = proxy.holdNext(Direction.TO_SERVER, packet -> has(packet, "first"));
    CompletionStage<GrantReply> first = grant(entry);
    assertThat(held.arrival()).succeedsWithin(PATIENT);
    CompletionStage<GrantReply> second = grant(entry("second", "s"));
    CompletionStage<GrantReply> third = grant(entry("third", "t"));

    CompletionStage<GrantReply> fourth = grant(entry("fourth", "u"));

    assertThat(fourth.toCompletableFuture()).isDone();
    assertThat(((Failed) now(fourth)).detail()).contains("queue full");
    held.release();
    for (CompletionStage<GrantReply> reply : List.of(first, second, third)) {
      assertThat(now(reply)).isEqualTo(new Granted(1));
    }
  }

  @Test
  void requestThatWaitedTooLongForAConnection_wasNotSent() {
    node = builder(IMPATIENT).maxConnections(1).build();
    HeldPacket held = proxy.holdNext(Direction.TO_SERVER, packet -> has(packet, "first"));
    CompletionStage<GrantReply> first = grant(entry("first", "r"));
    assertThat(held.arrival()).succeedsWithin(PATIENT);
    LockEntry queued = entry("queued", "s");
    List<CompletionStage<GrantReply>> others = new ArrayList<>();
    proxy.hold();
    others.add(grant(queued));
    for (int i = 0; i < 5; i++) {
      others.add(grant(entry("more" + i, "m" + i)));
    }
    assertThat(now(first)).isInstanceOf(Unknown.class);
    GrantReply last = now(others.get(others.size() - 1));
    assertThat(last).isInstanceOf(Failed.class);
    assertThat(((Failed) last).detail()).contains("timeout");
    assertThat(database.holders("m4")).isZero();
  }

  @Test
  void closeWhileTheServerHangs_returns_andLeavesNoThread() {
    node = node(PATIENT);
    now(grant(entry("a", "r")));
    node.watch("r", () -> {});
    await().until(node::isListening);
    proxy.hold();
    List<CompletionStage<GrantReply>> replies = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      replies.add(grant(entry("o" + i, "r" + i)));
    }

    node.close();

    for (CompletionStage<GrantReply> reply : replies) {
      assertThat(reply.toCompletableFuture()).isDone();
      assertThat(now(reply)).isInstanceOf(NodeFault.class);
    }
    await().untilAsserted(() -> assertThat(Threads.ofNodes()).isEmpty());
  }

  @Test
  void release_wakesWaitersOfOtherNodes() throws Exception {
    node = node(PATIENT);
    JdbcNode other = database.node().name("other").build();
    CountDownLatch woken = new CountDownLatch(1);
    CountDownLatch listening = new CountDownLatch(1);
    try (other) {
      now(grant(entry("a", "r")));
      node.watch("r", listening::countDown);
      assertThat(listening.await(30, TimeUnit.SECONDS)).isTrue();
      node.watch("r", woken::countDown);
      CountDownLatch again = new CountDownLatch(2);
      node.watch("r", again::countDown); // Once at once, once by the release.
      now(other.release(entry("a", "r")));
      assertThat(again.await(30, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void brokenListener_connectsAgain_andWakesEverybody() throws Exception {
    node = node(PATIENT);
    CountDownLatch first = new CountDownLatch(1);
    node.watch("r", first::countDown);
    assertThat(first.await(30, TimeUnit.SECONDS)).isTrue();
    await().until(node::isListening);
    CountDownLatch afterReconnect = new CountDownLatch(2);
    try (dev.lukko.spi.LockNode.Watch watch = node.watch("s", afterReconnect::countDown)) {
      database.execute(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'"
              + " OR query = 'SELECT 1'");
      assertThat(afterReconnect.await(30, TimeUnit.SECONDS)).isTrue();
    }
  }
}
