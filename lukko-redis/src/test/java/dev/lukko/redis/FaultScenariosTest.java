package dev.lukko.redis;

import static dev.lukko.redis.testing.FaultBed.ENTRY;
import static dev.lukko.redis.testing.Requests.answer;
import static dev.lukko.redis.testing.Requests.has;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lukko.Lease;
import dev.lukko.LockNotAcquiredException;
import dev.lukko.LockRequest;
import dev.lukko.QuorumUnavailableException;
import dev.lukko.ReleaseOutcome;
import dev.lukko.ValidityExhaustedException;
import dev.lukko.redis.testing.Requests;
import dev.lukko.redlock.Redlock;
import dev.lukko.spi.LockNode;
import dev.lukko.testkit.FaultProxy.Direction;
import dev.lukko.testkit.FaultyNode;
import dev.lukko.testkit.FaultyNode.Fault;
import dev.lukko.testkit.HeldPacket;
import dev.lukko.testkit.MonitorTap;
import dev.lukko.testkit.RedisServer;
import dev.lukko.testkit.rows.FaultRow;
import dev.lukko.time.Ticker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/**
 * Faults of processes and of the network: rows 3, 4, 8 to 14, 26, 27 and 37. All five servers write
 * to disk. Scale: the table's ttl of 2 s is kept where it must run out, and longer where it must
 * not; the node timeout is ten times that of the table, 500 ms.
 */
class FaultScenariosTest extends ScenarioTest {
  private static final Duration T = Duration.ofSeconds(2);

  private Redlock warmClient(Duration ttl) {
    Redlock client = bed.client(ttl);
    client.acquire("warm", ttl).close();
    return client;
  }

  FaultScenariosTest() {
    super(RedisServer.Builder::appendOnly);
  }

  @FaultRow(3)
  @Test
  void row03_twoNodesKilled_grantedByThree() {
    Redlock client = warmClient(T);
    bed.server(0).kill();
    bed.server(1).kill();
    long start = System.nanoTime();
    Lease lease = ledger.acquire(client, waiting(T));
    long took = millisSince(start);
    assertThat(lease.isValid()).isTrue();
    for (int i = 2; i < 5; i++) {
      assertThat(bed.ownerAt(i)).isEqualTo(lease.owner());
    }
    ledger.close(lease);
    bed.awaitNoEntry();
    row(3, "two servers killed; granted by the other three after " + took + " ms");
  }

  @FaultRow(4)
  @Test
  void row04_threeNodesKilled_neverGrantedAndNothingLeft() {
    Redlock client = warmClient(T);
    bed.first(3).forEach(RedisServer::kill);
    long start = System.nanoTime();
    QuorumUnavailableException failure =
        failure(
            QuorumUnavailableException.class,
            client,
            LockRequest.builder("r")
                .ttl(T)
                .maxWait(Duration.ofMillis(700))
                .waitForQuorum(true)
                .build());
    long took = millisSince(start);
    for (int i = 0; i < 3; i++) {
      assertThat(failure.getMessage()).contains("127.0.0.1:" + bed.proxy(i).port() + ": failed");
    }
    assertThat(failure.waitExhausted()).isTrue();
    bed.awaitNoEntry();
    row(4, "three servers killed; no quorum after " + took + " ms of 700, naming all three");
  }

  @FaultRow(8)
  @Test
  void row08_writeHeldOnItsWayBeyondTheLease_refusedOnArrival() throws Exception {
    try (FencedResource resource = new FencedResource()) {
      Redlock first = warmClient(T);
      Redlock second = bed.client(T);
      Lease stale = ledger.acquire(first, waiting(T));
      assertThat(stale.isValid()).isTrue();
      HeldPacket packet = resource.proxy.holdNext(Direction.TO_SERVER, has("stale"));
      CompletableFuture<Boolean> late = resource.writeThroughProxy(stale.fencingToken(), "stale");
      packet.arrival().join();
      Lease fresh = ledger.acquire(second, waiting(T));
      assertThat(resource.write(fresh.fencingToken(), "fresh")).isTrue();
      packet.release();
      assertThat(late).succeedsWithin(Requests.BOUND).isEqualTo(false);
      assertThat(resource.value()).isEqualTo("fresh");
      ledger.close(fresh);
      row(
          8,
          "a write of token "
              + stale.fencingToken()
              + " was held beyond its lease; it arrived"
              + " after one of "
              + fresh.fencingToken()
              + " and was refused");
    }
  }

  @FaultRow(9)
  @Test
  void row09_pauseBetweenTheRepliesAndTheDecision_notGranted() {
    AtomicLong jumpNanos = new AtomicLong();
    Ticker ticker =
        new Ticker() {
          @Override
          public long nanoTime() {
            return System.nanoTime() + jumpNanos.get();
          }

          @Override
          public long wallMicros() {
            return Ticker.system().wallMicros() + jumpNanos.get() / 1_000;
          }
        };
    List<FaultyNode> nodes = bed.nodes("").stream().map(FaultyNode::new).toList();
    Redlock client = bed.client(nodes, LONG, options -> options.ticker(ticker).nodeTimeout(LONG));
    client.acquire("warm", LONG).close();
    nodes.forEach(node -> node.fault(Fault.HOLD_REPLIES));
    CompletableFuture<Lease> acquiring = client.acquireAsync(atOnce(LONG));
    bed.servers
        .all()
        .forEach(server -> await().until(() -> server.command("EXISTS", ENTRY).equals(1L)));
    jumpNanos.addAndGet(LONG.toNanos());
    nodes.forEach(FaultyNode::heal);
    assertThat(acquiring)
        .failsWithin(Requests.BOUND)
        .withThrowableThat()
        .withCauseInstanceOf(ValidityExhaustedException.class);
    bed.awaitNoEntry();
    row(
        9,
        "all five had granted, then the process stood still for a ttl: not granted, all released");
  }

  @FaultRow(10)
  @Test
  void row10_repliesDelayedBeyondTheTtl_notGranted() {
    Redlock client = bed.client(T, options -> options.nodeTimeout(LONG));
    client.acquire("warm", T).close();
    // All that the servers send: else a second connection would take the place of a silent one.
    for (int i = 0; i < 5; i++) {
      bed.proxy(i).hold(Direction.TO_CLIENT);
    }
    long start = System.nanoTime();
    CompletableFuture<Lease> acquiring = client.acquireAsync(atOnce(T));
    await().until(() -> millisSince(start) > T.toMillis());
    for (int i = 0; i < 5; i++) {
      bed.proxy(i).heal();
    }
    assertThat(acquiring)
        .failsWithin(Requests.BOUND)
        .withThrowableThat()
        .withCauseInstanceOf(ValidityExhaustedException.class);
    bed.awaitNoEntry();
    row(10, "the replies came after " + millisSince(start) + " ms of a ttl of 2000: not granted");
  }

  @FaultRow(11)
  @Test
  void row11_repliesOfThreeNodesAfterTheNodeTimeout_notCountedAndReleased() {
    Redlock client = warmClient(LONG);
    List<MonitorTap> taps = bed.first(3).stream().map(MonitorTap::on).toList();
    for (int i = 0; i < 3; i++) {
      bed.proxy(i).hold(Direction.TO_CLIENT);
    }
    QuorumUnavailableException failure =
        failure(QuorumUnavailableException.class, client, atOnce(LONG));
    // The node's timeout and the end of the call come at the same instant.
    assertThat(failure.getMessage())
        .containsPattern("no answer (within 500 ms|before the time of the call was over)");
    bed.awaitNoEntry();
    for (MonitorTap tap : taps) {
      List<String> onEntry =
          tap.lines().stream()
              .filter(line -> line.contains(" lua] ") && line.contains(ENTRY + "\""))
              .map(line -> line.replaceAll("^[^\"]*\"([^\"]*)\".*", "$1").toUpperCase(Locale.ROOT))
              .filter(word -> word.equals("SET") || word.equals("DEL"))
              .toList();
      assertThat(onEntry).as("the release came after the grant").endsWith("SET", "DEL");
      tap.close();
    }
    for (int i = 0; i < 3; i++) {
      bed.proxy(i).heal();
    }
    row(
        11,
        "three replies came after the node timeout: not granted, and released behind the grant");
  }

  @FaultRow(12)
  @Test
  void row12_serverStoppedBeforeTheGrant_keyIsReleasedWhenItWakes() {
    Redlock client = warmClient(LONG);
    bed.first(3).forEach(RedisServer::pause);
    failure(QuorumUnavailableException.class, client, atOnce(LONG));
    long start = System.nanoTime();
    bed.first(3).forEach(RedisServer::resume);
    bed.awaitNoEntry();
    long took = millisSince(start);
    Lease lease = ledger.acquire(client, waiting(LONG));
    ledger.close(lease);
    row(
        12,
        "three stopped servers ran the grant when they woke, and the release behind it: no key"
            + " after "
            + took
            + " ms, of a ttl of 30 s; next acquisition after "
            + millisSince(start)
            + " ms");
  }

  @FaultRow(13)
  @Test
  void row13_connectionsResetDuringTheGrant_notGrantedAndNotRepeated() {
    Redlock client = warmClient(LONG);
    List<MonitorTap> taps = bed.servers.all().stream().map(MonitorTap::on).toList();
    for (int i = 0; i < 3; i++) {
      bed.proxy(i).resetAtNextReply(has(ENTRY));
    }
    QuorumUnavailableException failure =
        failure(QuorumUnavailableException.class, client, atOnce(LONG));
    assertThat(failure.getMessage()).contains("unknown, connection lost");
    bed.awaitNoEntry();
    long most = 0;
    for (MonitorTap tap : taps) {
      long grants =
          tap.lines().stream()
              .filter(line -> line.contains(" lua] \"SET\" \"" + ENTRY + "\""))
              .count();
      most = Math.max(most, grants);
      tap.close();
    }
    assertThat(most).isEqualTo(1);
    row(
        13,
        "three connections were reset during the grant: outcome unknown, not granted, and every"
            + " server saw at most "
            + most
            + " SET");
  }

  @FaultRow(14)
  @Test
  void row14_repliesOfTwoNodesLost_grantedByThreeAndReleasedAtFive() {
    Redlock client = warmClient(LONG);
    for (int i = 0; i < 2; i++) {
      bed.proxy(i).loseNextReply(has(ENTRY));
    }
    Lease lease = ledger.acquire(client, atOnce(LONG));
    for (int i = 0; i < 5; i++) {
      int node = i;
      await().until(() -> lease.owner().equals(bed.ownerAt(node)));
    }
    ledger.close(lease);
    bed.awaitNoEntry();
    row(14, "two replies were lost: granted by the other three, released at all five");
  }

  @FaultRow(26)
  @Test
  void row26_nodeKilledAndBackAtOnceWithItsData_keepsItsKeyAndIsQuarantined() {
    Redlock first = warmClient(T);
    List<LockNode> nodes = bed.nodes("");
    Redlock second = bed.client(nodes, T, options -> {});
    Lease lease =
        ledger.acquire(
            first, LockRequest.builder("r").ttl(T).maxWait(Duration.ZERO).autoExtend(true).build());
    await().until(() -> lease.owner().equals(bed.ownerAt(0)));
    long start = System.nanoTime();
    bed.server(0).restart();
    long down = millisSince(start);
    assertThat(bed.ownerAt(0)).as("its key is still there").isEqualTo(lease.owner());
    await()
        .until(
            () -> {
              LockNotAcquiredException busy =
                  failure(LockNotAcquiredException.class, second, atOnce(T));
              return busy.getMessage().contains("quarantined for another");
            });
    await().until(() -> answer(nodes.get(0).status()).state().name().equals("VOTING"));
    assertThat(lease.isValid()).as("extended all the time").isTrue();
    ledger.close(lease);
    Lease next = ledger.acquire(second, waiting(T));
    await().until(() -> next.owner().equals(bed.ownerAt(0)));
    ledger.close(next);
    row(
        26,
        "killed and back after "
            + down
            + " ms with its key; it counted for the holder's"
            + " extensions, gave no new vote for a ttl, and votes again");
  }

  @FaultRow(27)
  @Test
  void row27_powerLossTakesTheGrantBack_nodeDoesNotVoteAgain() {
    Redlock first = warmClient(LONG);
    long before = bed.server(0).appendOnlyFileSizeBytes();
    bed.proxy(3).cut();
    bed.proxy(4).cut();
    Lease lease = ledger.acquire(first, atOnce(LONG)); // by 0, 1 and 2 exactly
    assertThat(bed.ownerAt(0)).isEqualTo(lease.owner());
    bed.proxy(3).heal();
    bed.proxy(4).heal();
    bed.server(0).kill();
    bed.server(0).truncateAppendOnlyFile(before);
    bed.server(0).restart();
    assertThat(bed.ownerAt(0)).as("it has forgotten the grant").isNull();
    Redlock second = bed.client(LONG);
    for (int i = 0; i < 20; i++) {
      failure(LockNotAcquiredException.class, second, atOnce(LONG));
    }
    String saw = failure(LockNotAcquiredException.class, second, atOnce(LONG)).getMessage();
    assertThat(saw).contains("quarantined for another").contains("restarted at ");
    assertThat(lease.isValid()).isTrue();
    ledger.close(lease);
    ledger.close(ledger.acquire(second, waiting(LONG)));
    row(
        27,
        "a voter lost the grant with its power; it would have been the third vote of another"
            + " client: not granted in 21 tries");
  }

  @FaultRow(37)
  @Test
  void row37_scriptsForgottenUnderContention_noErrorIsSeen() throws Exception {
    Redlock client = warmClient(LONG);
    int[] inside = {0};
    ExecutorService threads = Executors.newFixedThreadPool(32);
    List<CompletableFuture<Void>> workers = new ArrayList<>();
    try {
      for (int t = 0; t < 32; t++) {
        workers.add(
            CompletableFuture.runAsync(
                () -> {
                  for (int i = 0; i < 5; i++) {
                    Lease lease = ledger.acquire(client, waiting(LONG));
                    inside[0]++;
                    ledger.ending(lease);
                    assertThat(lease.release().status()).isEqualTo(ReleaseOutcome.Status.RELEASED);
                  }
                },
                threads));
      }
      CompletableFuture<Void> all =
          CompletableFuture.allOf(workers.toArray(CompletableFuture[]::new));
      int flushes = 0;
      while (!all.isDone()) {
        bed.server(flushes++ % 5).command("SCRIPT", "FLUSH");
      }
      assertThat(all).succeedsWithin(Requests.BOUND);
      assertThat(inside[0]).isEqualTo(160);
      row(37, "32 threads, 160 acquisitions, scripts flushed " + flushes + " times: no error");
    } finally {
      threads.shutdownNow();
    }
    bed.awaitNoEntry();
  }
}
