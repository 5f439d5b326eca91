package dev.lukko.redis;

import static dev.lukko.redis.testing.FaultBed.ENTRY;
import static dev.lukko.redis.testing.Requests.BOUND;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lukko.Lease;
import dev.lukko.LockRequest;
import dev.lukko.LossReason;
import dev.lukko.ReleaseOutcome;
import dev.lukko.redlock.Redlock;
import dev.lukko.testkit.FaultProxy.Direction;
import dev.lukko.testkit.MonitorTap;
import dev.lukko.testkit.RedisServer;
import dev.lukko.testkit.rows.FaultRow;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Holders that die, stand still, are cut off or come late: rows 5 to 7, 39 to 41 and 43. The holder
 * of rows 5 and 6 is a process of its own, with a ttl of 1 s.
 */
class HolderFaultsTest extends ScenarioTest {
  private static final Duration T = Duration.ofSeconds(2);
  private static final int STALE_WRITES = 1_000;

  HolderFaultsTest() {
    super(RedisServer.Builder::appendOnly);
  }

  /** A client that reaches the servers past the proxies. */
  private Redlock direct(Duration maxTtl) {
    return bed.client(
        RedisNode.connectAll(bed.servers.urls().toArray(String[]::new)), maxTtl, options -> {});
  }

  private Long millisToLive(int server) {
    return (Long) Objects.requireNonNull(bed.server(server).command("PTTL", ENTRY));
  }

  @FaultRow(5)
  @Test
  void row05_holderKilled_nextGrantedWhenItsEntriesHaveExpiredAndNotBefore() throws Exception {
    Redlock client = bed.client(LONG);
    HolderProcess holder = HolderProcess.start(bed.servers.urls());
    long token;
    try {
      token = holder.token();
    } finally {
      holder.close(); // SIGKILL
    }
    long start = System.nanoTime();
    // What stands after the kill stands until then: the third entry to expire frees a quorum.
    long third = List.of(0, 1, 2, 3, 4).stream().map(this::millisToLive).sorted().toList().get(2);
    Lease next = ledger.acquire(client, waiting(LONG));
    long took = millisSince(start);
    assertThat(took + 1).as("not before the entries expire").isGreaterThanOrEqualTo(third);
    assertThat(next.fencingToken()).isGreaterThan(token);
    ledger.close(next);
    row(
        5,
        "the holder was killed with "
            + third
            + " ms left at a quorum; the next was granted after "
            + took
            + " ms, with a larger token");
  }

  @FaultRow(6)
  @Test
  void row06_holderStoppedBeyondItsTtl_seesTheLossFirstAndEachOfItsWritesIsRefused()
      throws Exception {
    Redlock client = bed.client(LONG);
    try (FencedResource resource = new FencedResource();
        HolderProcess holder = HolderProcess.start(bed.servers.urls())) {
      long token = holder.token();
      assertThat(resource.write(token, "first")).isTrue();
      holder.pause();
      long start = System.nanoTime();
      Lease next = ledger.acquire(client, waiting(LONG));
      long took = millisSince(start);
      assertThat(next.fencingToken()).isGreaterThan(token);
      assertThat(resource.write(next.fencingToken(), "second")).isTrue();
      await().until(() -> millisSince(start) > 3_000); // three times the ttl of the holder
      holder.resume();
      assertThat(holder.firstSeenValidity()).isEqualTo("false");
      for (int i = 0; i < STALE_WRITES; i++) {
        assertThat(resource.write(token, "stale")).isFalse();
      }
      assertThat(resource.value()).isEqualTo("second");
      assertThat(next.isValid()).isTrue();
      ledger.close(next);
      row(
          6,
          "the holder stood still for 3 ttl, the next was granted after "
              + took
              + " ms; the first that the woken one saw was that it is not valid, and 0 of "
              + STALE_WRITES
              + " of its writes were taken");
    }
  }

  @FaultRow(7)
  @Test
  void row07_pauseBetweenTheLookAtTheLeaseAndTheWrite_resourceRefusesTheWrite() {
    try (FencedResource resource = new FencedResource()) {
      Redlock first = bed.client(T);
      Redlock second = bed.client(T);
      Lease stale = ledger.acquire(first, waiting(T));
      stale.ensureValid();
      // The pause: all that happens to the others in it happens here, between the two lines.
      Lease fresh = ledger.acquire(second, waiting(T));
      assertThat(resource.write(fresh.fencingToken(), "fresh")).isTrue();
      assertThat(resource.write(stale.fencingToken(), "stale")).isFalse();
      assertThat(resource.value()).isEqualTo("fresh");
      ledger.close(fresh);
      row(7, "valid when it was looked at, then a pause: the write was refused by the resource");
    }
  }

  @FaultRow(39)
  @Test
  void row39_extensionAtTwoOfFive_isNoExtensionAndNothingForeignIsExtended() {
    Duration ttl = Duration.ofSeconds(20);
    Redlock client = bed.client(LONG);
    Lease lease = ledger.acquire(client, atOnce(ttl));
    for (int i = 0; i < 3; i++) {
      bed.proxy(i).cut();
    }
    Duration before = lease.remaining();
    assertThat(lease.extend(LONG)).isFalse();
    assertThat(lease.remaining()).as("the old end stands").isLessThanOrEqualTo(before);
    for (int i = 0; i < 3; i++) {
      bed.proxy(i).heal();
    }
    bed.server(4).command("SET", ENTRY, "another", "PX", "15000");
    await().until(() -> lease.extend(LONG));
    assertThat(millisToLive(4)).as("the entry of another").isLessThanOrEqualTo(15_000);
    assertThat(bed.ownerAt(4)).isEqualTo("another");
    ledger.close(lease);
    assertThat(bed.server(4).command("DEL", ENTRY)).as("not released either").isEqualTo(1L);
    row(39, "two of five extended: false, the old end stands; the entry of another is untouched");
  }

  @FaultRow(39)
  @Test
  void row39_extensionThatArrivesAfterTheExpiry_extendsNothing() {
    Redlock first = bed.client(LONG);
    Redlock second = direct(LONG);
    Lease late = ledger.acquire(first, atOnce(T));
    bed.proxies.forEach(proxy -> proxy.hold(Direction.TO_SERVER));
    CompletableFuture<Boolean> extension = late.extendAsync(LONG);
    Lease next = ledger.acquire(second, waiting(LONG));
    bed.proxies.forEach(proxy -> proxy.heal());
    assertThat(extension)
        .satisfiesAnyOf(
            answer -> assertThat(answer).succeedsWithin(BOUND).isEqualTo(false),
            answer -> assertThat(answer).failsWithin(BOUND));
    assertThat(late.isValid()).isFalse();
    assertThat(next.isValid()).isTrue();
    late.release();
    for (int i = 0; i < 5; i++) {
      assertThat(bed.ownerAt(i)).isIn(next.owner(), null);
    }
    ledger.close(next);
    row(39, "an extension that arrived after the expiry extended nothing");
  }

  @FaultRow(40)
  @Test
  void row40_releaseThatArrivesWhenANewHolderIsThere_leavesItsLockAlone() {
    Redlock first = bed.client(LONG);
    Redlock second = direct(LONG);
    List<MonitorTap> taps = bed.servers.all().stream().map(MonitorTap::on).toList();
    Lease late = ledger.acquire(first, atOnce(T));
    bed.proxies.forEach(proxy -> proxy.hold(Direction.TO_SERVER));
    CompletableFuture<ReleaseOutcome> release = late.releaseAsync();
    List<Long> before = taps.stream().map(tap -> requestsOf(late, tap)).toList();
    Lease next = ledger.acquire(second, waiting(LONG));
    // A majority at least: at some servers the old entry may have lived a moment longer.
    List<Integer> held =
        IntStream.range(0, 5).filter(i -> next.owner().equals(bed.ownerAt(i))).boxed().toList();
    assertThat(held).hasSizeGreaterThanOrEqualTo(3);
    bed.proxies.forEach(proxy -> proxy.heal());
    for (int i = 0; i < 5; i++) {
      MonitorTap tap = taps.get(i);
      long grantAndRelease = Math.max(2, before.get(i) + 1);
      await().until(() -> requestsOf(late, tap) >= grantAndRelease);
      tap.close();
    }
    assertThat(release).succeedsWithin(BOUND);
    assertThat(held).allSatisfy(i -> assertThat(bed.ownerAt(i)).isEqualTo(next.owner()));
    assertThat(next.isValid()).isTrue();
    ledger.close(next);
    row(40, "five releases arrived after a new holder had come: its lock was untouched");
  }

  private static long requestsOf(Lease lease, MonitorTap tap) {
    return tap.requests().stream().filter(line -> line.contains(lease.owner())).count();
  }

  @FaultRow(41)
  @Test
  void row41_holderCutOffFromThreeNodes_learnsOfItBeforeAnotherIsGranted() {
    Redlock first = bed.client(T);
    Redlock second = direct(T);
    Lease cutOff =
        ledger.acquire(
            first, LockRequest.builder("r").ttl(T).maxWait(Duration.ZERO).autoExtend(true).build());
    CompletableFuture<LossReason> lost = cutOff.lost().toCompletableFuture();
    for (int i = 0; i < 3; i++) {
      bed.proxy(i).hold();
    }
    long start = System.nanoTime();
    CompletableFuture<Long> told = lost.thenApply(reason -> millisSince(start));
    Lease next = ledger.acquire(second, waiting(T));
    long took = millisSince(start);
    assertThat(lost).as("the loss was told before the next grant").isDone();
    assertThat(cutOff.isValid()).isFalse();
    assertThat(next.fencingToken()).isGreaterThan(cutOff.fencingToken());
    ledger.close(next);
    row(
        41,
        "cut off from three: told of its loss after "
            + told.join()
            + " ms of a ttl of 2000, as "
            + lost.join()
            + "; another was granted after "
            + took
            + " ms");
    for (int i = 0; i < 3; i++) {
      bed.proxy(i).heal();
    }
  }

  @FaultRow(43)
  @Test
  void row43_newHolderReadsBeforeItWrites_writeOfTheOldOneInBetweenIsRefused() {
    try (FencedResource resource = new FencedResource()) {
      Redlock first = bed.client(T);
      Redlock second = bed.client(T);
      Lease old = ledger.acquire(first, waiting(T));
      assertThat(resource.write(old.fencingToken(), "10")).isTrue();
      Lease fresh = ledger.acquire(second, waiting(T));
      assertThat(resource.read(fresh.fencingToken())).contains("10");
      assertThat(resource.write(old.fencingToken(), "11")).as("the read has raised it").isFalse();
      assertThat(resource.write(fresh.fencingToken(), "20")).isTrue();
      assertThat(resource.value()).isEqualTo("20");
      ledger.close(fresh);
      row(43, "the new holder had only read when the old one wrote: refused");
    }
  }
}
