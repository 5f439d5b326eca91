package dev.lukko.view;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.Lease;
import dev.lukko.LockClient;
import dev.lukko.LockRequest;
import dev.lukko.memory.InMemoryNode;
import dev.lukko.redlock.Redlock;
import dev.lukko.testkit.FaultyNode;
import dev.lukko.testkit.LockInvariants;
import dev.lukko.testkit.ManualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class WaitingInLineTest {
  private static final Duration TTL = Duration.ofSeconds(30);

  @RegisterExtension final LockInvariants invariants = new LockInvariants();
  private final ManualTime time = invariants.time(new ManualTime());
  private final InMemoryNode store = new InMemoryNode("n1", time);

  private LockClient client(FaultyNode node) {
    return invariants.client(Redlock.builder().node(node).ticker(time).scheduler(time).build());
  }

  private static LockRequest waiting(boolean fair) {
    return LockRequest.builder("r").ttl(TTL).maxWait(LockRequest.FOREVER).fair(fair).build();
  }

  @Test
  void waitersOfOneClientAreServedInOrderAndCostTheNodeNoMoreThanOne() {
    FaultyNode node = invariants.node(store);
    LockClient locks = client(node);
    Lease held = locks.acquire("r", TTL);
    List<CompletableFuture<Lease>> waiters = new ArrayList<>();
    waiters.add(locks.acquireAsync(waiting(false)));
    time.runDue();
    int requestsOfOne = node.requests();
    for (int i = 1; i < 16; i++) {
      waiters.add(locks.acquireAsync(waiting(false)));
    }
    time.runDue();
    assertThat(node.requests()).isEqualTo(requestsOfOne);
    Lease next = held;
    for (int i = 0; i < 16; i++) {
      next.release();
      time.advance(Duration.ofMillis(1));
      assertThat(waiters.stream().filter(CompletableFuture::isDone)).hasSize(i + 1);
      assertThat(waiters.get(i)).isDone();
      next = waiters.get(i).join();
    }
    next.release();
  }

  @Test
  void hintWakesOneWaiterOfEachClient() {
    FaultyNode mine = invariants.node(store);
    FaultyNode others = invariants.node(store);
    LockClient first = client(mine);
    LockClient second = client(others);
    Lease held = first.acquire("r", TTL);
    List<CompletableFuture<Lease>> waiters = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      waiters.add(first.acquireAsync(waiting(false)));
      waiters.add(second.acquireAsync(waiting(false)));
    }
    time.advance(Duration.ofMillis(10));
    int before = mine.requests() + others.requests();
    held.release();
    time.advance(Duration.ofMillis(1));
    assertThat(waiters.stream().filter(CompletableFuture::isDone)).hasSize(1);
    assertThat(mine.requests() + others.requests() - before).isEqualTo(3); // release, two grants
    for (int i = 1; i < 8; i++) {
      waiters.stream()
          .filter(CompletableFuture::isDone)
          .map(CompletableFuture::join)
          .forEach(Lease::release);
      time.advance(Duration.ofMillis(1));
    }
    waiters.forEach(waiter -> waiter.join().release());
  }

  @Test
  void fairWaitersOfSeveralClientsAreServedInTheOrderInWhichTheyCame() {
    List<LockClient> clients =
        List.of(
            client(invariants.node(store)),
            client(invariants.node(store)),
            client(invariants.node(store)));
    Lease held = clients.get(0).acquire("r", TTL);
    List<CompletableFuture<Lease>> waiters = new ArrayList<>();
    for (int i = 0; i < 9; i++) {
      waiters.add(clients.get((i * 2) % 3).acquireAsync(waiting(true)));
      time.advance(Duration.ofMillis(1));
    }
    Lease next = held;
    for (int i = 0; i < 9; i++) {
      next.release();
      time.advance(Duration.ofMillis(1));
      assertThat(waiters.stream().filter(CompletableFuture::isDone)).hasSize(i + 1);
      next = waiters.get(i).join();
    }
    next.release();
  }

  /**
   * The nodes serve by ticket; so must the client's own line, or its wake-up reaches the wrong one.
   */
  @Test
  void fairWaiterThatLearnsLaterOfItsLossIsServedFirstAllTheSame() {
    LockClient other = client(invariants.node(store));
    FaultyNode node = invariants.node(store);
    LockClient locks = client(node);
    Lease held = other.acquire("r", TTL);
    node.fault(FaultyNode.Fault.HOLD_REPLIES);
    CompletableFuture<Lease> first = locks.acquireAsync(waiting(true));
    time.advance(Duration.ofMillis(1));
    node.fault(FaultyNode.Fault.NONE);
    CompletableFuture<Lease> second = locks.acquireAsync(waiting(true));
    time.advance(Duration.ofMillis(1));
    node.releaseHeld();
    time.advance(Duration.ofMillis(1));
    held.release();
    time.advance(Duration.ofMillis(1));
    assertThat(first).isDone();
    assertThat(second).isNotDone();
    first.join().release();
    time.advance(Duration.ofMillis(1));
    assertThat(second).isDone();
    second.join().release();
  }

  @Test
  void fairWaiterThatLearnsOfItsLossAfterTheReleaseIsServedAtOnce() {
    LockClient other = client(invariants.node(store));
    FaultyNode node = invariants.node(store);
    LockClient locks = client(node);
    Lease held = other.acquire("r", TTL);
    node.fault(FaultyNode.Fault.HOLD_REPLIES);
    CompletableFuture<Lease> first = locks.acquireAsync(waiting(true));
    time.advance(Duration.ofMillis(1));
    node.fault(FaultyNode.Fault.NONE);
    CompletableFuture<Lease> second = locks.acquireAsync(waiting(true));
    time.advance(Duration.ofMillis(1));
    held.release(); // It wakes the second, whose turn it is not.
    time.advance(Duration.ofMillis(1));
    assertThat(second).isNotDone();
    node.releaseHeld();
    time.advance(Duration.ofMillis(1));
    assertThat(first).isDone();
    first.join().release();
    time.advance(Duration.ofMillis(1));
    second.join().release();
  }

  @Test
  void fairWaitersThatDieOneAfterTheOtherLetTheNextInAtOnce() {
    LockClient other = client(invariants.node(store));
    LockClient locks = client(invariants.node(store));
    Lease held = other.acquire("r", TTL);
    List<CompletableFuture<Lease>> waiters = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      waiters.add((i % 2 == 0 ? locks : other).acquireAsync(waiting(true)));
      time.advance(Duration.ofMillis(1));
    }
    waiters.get(0).cancel(false);
    waiters.get(3).cancel(false);
    time.advance(Duration.ofMillis(1));
    held.release();
    for (int turn : new int[] {1, 2, 4, 5}) {
      time.advance(Duration.ofMillis(1));
      assertThat(waiters.get(turn)).isDone();
      waiters.get(turn).join().release();
    }
  }

  private static LockRequest reading(Duration maxWait) {
    return LockRequest.builder("r").ttl(TTL).maxWait(maxWait).shared(true).build();
  }

  @Test
  void readerWaitsNoLongerForAWriterOfItsClientThanThatHadWaited() {
    LockClient other = client(invariants.node(store));
    LockClient locks = client(invariants.node(store));
    Lease read = other.acquire(reading(Duration.ZERO));
    CompletableFuture<Lease> writer = locks.acquireAsync(waiting(false));
    time.advance(Duration.ofMillis(200));

    CompletableFuture<Lease> reader = locks.acquireAsync(reading(Duration.ofSeconds(8)));
    CompletableFuture<Lease> behind = locks.acquireAsync(reading(Duration.ofSeconds(8)));
    assertThat(locks.tryAcquire(reading(Duration.ZERO)).map(this::given)).as("no wait").hasValue(1);

    time.advance(Duration.ofMillis(199));
    assertThat(reader).isNotDone();
    time.advance(Duration.ofMillis(3));
    assertThat(reader).isDone();
    assertThat(behind).isDone();
    assertThat(writer).isNotDone();
    reader.join().release();
    behind.join().release();
    read.release();
    time.advance(Duration.ofMillis(1));
    writer.join().release();
  }

  private int given(Lease lease) {
    lease.release();
    return 1;
  }

  @Test
  void writerIsGrantedThoughReadersOfItsClientKeepComingAndOverlap() {
    LockClient locks = client(invariants.node(store));
    List<CompletableFuture<Lease>> readers = new ArrayList<>();
    Runnable newReader =
        () -> {
          CompletableFuture<Lease> reader = locks.acquireAsync(reading(LockRequest.FOREVER));
          reader.thenAccept(
              lease -> time.schedule(lease::release, Duration.ofMillis(300).toNanos()));
          readers.add(reader);
        };
    newReader.run();
    time.advance(Duration.ofMillis(50));
    CompletableFuture<Lease> writer = locks.acquireAsync(waiting(false));
    int granted = 0;
    for (int i = 0; i < 40 && !writer.isDone(); i++) {
      newReader.run();
      time.advance(Duration.ofMillis(50));
      granted = (int) readers.stream().filter(CompletableFuture::isDone).count();
    }
    assertThat(writer).isDone();
    assertThat(granted).as("readers were not kept out all the time").isGreaterThan(3);
    writer.join().release();
    time.advance(Duration.ofSeconds(5));
    assertThat(readers).allMatch(CompletableFuture::isDone);
  }

  @Test
  void readersInLineAreAllGrantedWhenTheWriterReleases() {
    LockClient other = client(invariants.node(store));
    LockClient locks = client(invariants.node(store));
    Lease held = other.acquire("r", TTL);
    List<CompletableFuture<Lease>> readers = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      readers.add(locks.acquireAsync(reading(LockRequest.FOREVER)));
    }
    time.advance(Duration.ofMillis(1));
    held.release();
    time.advance(Duration.ofMillis(1));
    assertThat(readers).allMatch(CompletableFuture::isDone);
    readers.forEach(reader -> reader.join().release());
  }

  @Test
  void fairWaiterThatDiedCostsTheLineItsOwnLeaseAndNoMore() {
    FaultyNode dying = invariants.node(store);
    LockClient dead = client(dying);
    LockClient alive = client(invariants.node(store));
    Lease held = alive.acquire("r", TTL);
    CompletableFuture<Lease> first = dead.acquireAsync(waiting(true));
    time.advance(Duration.ofMillis(1));
    CompletableFuture<Lease> second = alive.acquireAsync(waiting(true));
    time.advance(Duration.ofMillis(1));
    dying.fault(FaultyNode.Fault.LOSE_REQUESTS);
    held.release();
    time.advance(Duration.ofMillis(1_400));
    assertThat(second).isNotDone();
    time.advance(Duration.ofMillis(120));
    assertThat(second).isDone();
    second.join().release();
    first.cancel(false);
    dying.heal();
  }

  @Test
  void callersWithOppositeOrdersOfNamesNeitherDeadlockNorLivelock() throws Exception {
    LockClient locks =
        invariants.client(
            Redlock.over(
                invariants.node(new InMemoryNode("a")),
                invariants.node(new InMemoryNode("b")),
                invariants.node(new InMemoryNode("c"))));
    Threads.together(
        2,
        thread -> {
          LockRequest request =
              (thread == 0 ? LockRequest.builder("x", "y") : LockRequest.builder("y", "x"))
                  .ttl(TTL)
                  .maxWait(Duration.ofSeconds(60))
                  .build();
          for (int i = 0; i < 200; i++) {
            try (Lease both = locks.acquire(request)) {
              assertThat(both.resources()).containsExactly("x", "y");
            }
          }
        });
  }
}
