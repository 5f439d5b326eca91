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
