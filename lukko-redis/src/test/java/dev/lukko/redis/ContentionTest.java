package dev.lukko.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lukko.Lease;
import dev.lukko.LockEvent;
import dev.lukko.redlock.Redlock;
import dev.lukko.testkit.FaultProxy;
import dev.lukko.testkit.MonitorTap;
import dev.lukko.testkit.RedisServer;
import dev.lukko.testkit.rows.FaultRow;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * A lock that nothing is wrong with, contention, and a network that comes and goes: rows 1, 2 and
 * 42.
 */
class ContentionTest extends ScenarioTest {
  private static final Duration T = Duration.ofSeconds(2);

  ContentionTest() {
    super(RedisServer.Builder::appendOnly);
  }

  @FaultRow(1)
  @Test
  void row01_freeLock_grantedByFiveInOneRoundTrip() {
    Redlock client = bed.client(T);
    // All five have the script behind this: a node whose grant was withdrawn may not.
    try (Lease first = client.acquire("r", T)) {
      for (int i = 0; i < 5; i++) {
        int server = i;
        await().until(() -> first.owner().equals(bed.ownerAt(server)));
      }
    }
    bed.awaitNoEntry();
    List<MonitorTap> taps = bed.servers.all().stream().map(MonitorTap::on).toList();
    long start = System.nanoTime();
    Lease lease = ledger.acquire(client, atOnce(T));
    long micros = (System.nanoTime() - start) / 1_000;
    for (int i = 0; i < 5; i++) {
      int server = i;
      await().until(() -> lease.owner().equals(bed.ownerAt(server)));
      assertThat(taps.get(i).requests().stream().filter(line -> line.contains(lease.owner())))
          .as("requests for the lock at server %s", i)
          .hasSize(1);
      taps.get(i).close();
    }
    assertThat(bed.events)
        .filteredOn(LockEvent.Acquired.class::isInstance)
        .last()
        .matches(event -> ((LockEvent.Acquired) event).rounds() == 1);
    ledger.close(lease);
    row(1, "granted by five in one round trip, after " + micros + " us");
  }

  @FaultRow(2)
  @Test
  void row02_manyContenders_oneAfterTheOtherAndEachGetsItsTurn() {
    List<Redlock> clients =
        List.of(bed.client(LONG), bed.client(LONG), bed.client(LONG), bed.client(LONG));
    Contest contest = new Contest(ledger, clients, 32, waiting(LONG));
    contest.run(Contest.length(), () -> {}, () -> {});
    assertThat(contest.grantsOfEach()).as("grants of each contender").doesNotContain(0);
    bed.awaitNoEntry();
    row(2, contest.describe());
  }

  @FaultRow(42)
  @Test
  void row42_partitionsComeAndGo_promisesHoldAndTheHealedLockIsGranted() {
    List<Redlock> clients = List.of(bed.client(T), bed.client(T), bed.client(T));
    Contest contest = new Contest(ledger, clients, 6, waiting(T));
    Random random = new Random(42);
    contest.run(
        Contest.length(),
        () -> {
          FaultProxy proxy = bed.proxy(random.nextInt(5));
          switch (random.nextInt(4)) {
            case 0 -> proxy.cut();
            case 1 -> proxy.hold();
            default -> proxy.heal();
          }
        },
        () -> bed.proxies.forEach(FaultProxy::heal));
    long start = System.nanoTime();
    Lease lease = ledger.acquire(clients.get(0), waiting(T));
    long took = millisSince(start);
    ledger.close(lease);
    bed.awaitNoEntry();
    row(42, contest.describe() + "; after healing granted within " + took + " ms");
  }
}
