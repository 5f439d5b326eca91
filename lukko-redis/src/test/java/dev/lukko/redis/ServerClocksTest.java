package dev.lukko.redis;

import static dev.lukko.redis.testing.Requests.inspect;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lukko.Lease;
import dev.lukko.LockNotAcquiredException;
import dev.lukko.LockRequest;
import dev.lukko.redis.testing.FaultBed;
import dev.lukko.redlock.Redlock;
import dev.lukko.spi.LockNode;
import dev.lukko.testkit.rows.FaultRow;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Wall clocks of servers that jump: rows 17 to 21. Skipped, with the reason, where servers cannot
 * be given a clock; see {@link ClockShim}.
 */
class ServerClocksTest {
  private static final Duration T = Duration.ofSeconds(2);
  private static final Duration LONG = ScenarioTest.LONG;
  private static final Duration HOUR_BACK = Duration.ofHours(-1);
  private static final int STALE_WRITES = 1_000;

  @TempDir Path directory;
  private final Ledger ledger = new Ledger();
  private ClockShim clocks;
  private FaultBed bed;

  @BeforeEach
  void start() {
    clocks = ClockShim.compile(directory);
    bed = new FaultBed(ScenarioTest::connect, clocks::preload);
    clocks.assumeThatItWorks(bed.server(0));
  }

  @AfterEach
  void stop() {
    if (bed != null) {
      bed.close();
    }
  }

  @FaultRow(17)
  @Test
  void row17_oneClockForwardDuringAHoldOfFive_secondClientIsNotGranted() {
    Redlock first = bed.client(LONG);
    Redlock second = bed.client(LONG);
    Lease lease = ledger.acquire(first, ScenarioTest.atOnce(LONG));
    for (int i = 0; i < 5; i++) {
      int server = i;
      await().until(() -> lease.owner().equals(bed.ownerAt(server)));
    }
    clocks.set(2, LONG.plusSeconds(1));
    assertThat(bed.ownerAt(2)).as("expired by its clock").isNull();
    for (int i = 0; i < 20; i++) {
      ScenarioTest.failure(LockNotAcquiredException.class, second, ScenarioTest.atOnce(LONG));
    }
    assertThat(lease.isValid()).isTrue();
    ledger.close(lease);
    ScenarioTest.row(
        17, "five votes, one clock forward by a ttl: 20 tries of another, none granted");
  }

  @FaultRow(18)
  @Test
  void row18_clockOfOneOfExactlyThreeVotersForward_overlapIsSeenAndTheResourceHolds() {
    Redlock first = bed.client(LONG);
    Redlock second = bed.client(LONG);
    first.acquire("warm", LONG).close();
    second.acquire("warm", LONG).close();
    bed.proxy(3).cut();
    bed.proxy(4).cut();
    Lease old = ledger.acquire(first, ScenarioTest.waiting(LONG)); // by 0, 1 and 2 exactly
    bed.proxy(3).heal();
    bed.proxy(4).heal();
    clocks.set(2, LONG.plusSeconds(1));
    ledger.allowOverlap();
    Lease fresh = ledger.acquire(second, ScenarioTest.waiting(LONG));
    assertThat(old.isValid()).as("the expected overlap: both are valid").isTrue();
    assertThat(fresh.isValid()).isTrue();
    assertThat(fresh.fencingToken()).isGreaterThan(old.fencingToken());
    try (FencedResource resource = new FencedResource()) {
      assertThat(resource.write(old.fencingToken(), "old")).isTrue();
      assertThat(resource.write(fresh.fencingToken(), "fresh")).isTrue();
      for (int i = 0; i < STALE_WRITES; i++) {
        assertThat(resource.write(old.fencingToken(), "stale")).isFalse();
      }
      assertThat(resource.value()).isEqualTo("fresh");
    }
    ledger.close(fresh);
    ledger.close(old);
    ScenarioTest.row(
        18,
        "three votes, one of these clocks forward by a ttl: two valid leases, as expected; after"
            + " the second had written, 0 of "
            + STALE_WRITES
            + " writes of the first were taken");
  }

  @FaultRow(19)
  @Test
  void row19_twoClocksBackByAnHour_grantedByTheOthersAfterACrash() {
    Redlock dead = bed.client(T, options -> options.releaseOnClose(false));
    Redlock next = bed.client(T);
    Lease lost = ledger.acquire(dead, ScenarioTest.atOnce(T));
    for (int i = 0; i < 5; i++) {
      int server = i;
      await().until(() -> lost.owner().equals(bed.ownerAt(server)));
    }
    clocks.set(0, HOUR_BACK);
    clocks.set(1, HOUR_BACK);
    dead.close();
    long start = System.nanoTime();
    Lease lease = ledger.acquire(next, ScenarioTest.waiting(T));
    long took = ScenarioTest.millisSince(start);
    assertThat(lease.fencingToken()).isGreaterThan(lost.fencingToken());
    List<LockNode> nodes = bed.nodes("");
    for (int i = 0; i < 2; i++) {
      assertThat(inspect(nodes.get(i), "r").holders().get(0).remaining().orElseThrow())
          .as("what node %s tells", i)
          .isGreaterThan(Duration.ofMinutes(59));
    }
    nodes.forEach(LockNode::close);
    ledger.close(lease);
    forget();
    ScenarioTest.row(
        19,
        "two clocks back by an hour and a holder dead: granted by the other three after "
            + took
            + " ms of a ttl of 2000; both nodes tell the hour that is left");
  }

  @FaultRow(20)
  @Test
  void row20_threeClocksBackByAnHour_notGrantedAndTheErrorTellsHowLong() {
    Redlock dead = bed.client(T, options -> options.releaseOnClose(false));
    Redlock next = bed.client(T);
    Lease lost = ledger.acquire(dead, ScenarioTest.atOnce(T));
    for (int i = 0; i < 5; i++) {
      int server = i;
      await().until(() -> lost.owner().equals(bed.ownerAt(server)));
    }
    for (int i = 0; i < 3; i++) {
      clocks.set(i, HOUR_BACK);
    }
    dead.close();
    LockRequest request =
        LockRequest.builder("r").ttl(T).maxWait(T.multipliedBy(2)).waitForQuorum(true).build();
    String message =
        ScenarioTest.failure(LockNotAcquiredException.class, next, request).getMessage();
    assertThat(message).containsPattern("for another 3[56]\\d{5} ms");
    forget();
    Lease lease = ledger.acquire(next, ScenarioTest.waiting(T));
    assertThat(lease.fencingToken()).isGreaterThan(lost.fencingToken());
    ledger.close(lease);
    ScenarioTest.row(20, "three clocks back by an hour: not granted, with " + message);
  }

  /** The dead holder's entries, which would stay for an hour. */
  private void forget() {
    bed.servers.all().forEach(server -> server.command("DEL", FaultBed.ENTRY));
  }

  @FaultRow(21)
  @Test
  void row21_allClocksStrobe_noAcknowledgedAdditionIsLost() {
    ledger.allowOverlap();
    List<Redlock> clients = List.of(bed.client(T), bed.client(T), bed.client(T));
    Contest contest = new Contest(ledger, clients, 6, ScenarioTest.waiting(T));
    Random random = new Random(21);
    contest.run(
        Contest.length(),
        () -> {
          for (int i = 0; i < 5; i++) {
            clocks.set(i, random.nextBoolean() ? T : T.negated());
          }
        },
        () -> {
          for (int i = 0; i < 5; i++) {
            clocks.set(i, Duration.ZERO);
          }
        });
    bed.awaitNoEntry();
    ScenarioTest.row(21, contest.describe());
  }
}
