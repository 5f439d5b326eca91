package dev.lukko.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lukko.Lease;
import dev.lukko.LockEvent;
import dev.lukko.LockRequest;
import dev.lukko.LossReason;
import dev.lukko.ReleaseOutcome;
import dev.lukko.memory.InMemoryNode;
import dev.lukko.redlock.Redlock;
import dev.lukko.redlock.RedlockBuilder;
import dev.lukko.testkit.FaultyNode;
import dev.lukko.testkit.FaultyNode.Fault;
import dev.lukko.testkit.LockInvariants;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who hears of what, in which thread, whatever the JVM refuses and whoever blocks. */
class SignalsTest {
  private static final Duration TTL = Duration.ofSeconds(60);

  @RegisterExtension final LockInvariants invariants = new LockInvariants();
  private final InMemoryNode store = new InMemoryNode("n1");
  private final FaultyNode node = invariants.node(store);

  private Redlock client(RedlockBuilder builder) {
    return invariants.client(builder.node(node).nodeTimeout(Duration.ofSeconds(30)).build());
  }

  private static void pass(CountDownLatch latch) {
    boolean interrupted = false;
    while (true) {
      try {
        if (!latch.await(60, TimeUnit.SECONDS)) {
          throw new AssertionError("the gate was never opened");
        }
        break;
      } catch (InterruptedException later) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void executorThatRefusesEveryTaskLosesNoSignalAndNoEvent(boolean error) {
    Executor refusing =
        task -> {
          if (error) {
            throw new OutOfMemoryError("unable to create native thread, by the test");
          }
          throw new RejectedExecutionException("by the test");
        };
    AtomicInteger events = new AtomicInteger();
    Redlock client =
        client(
            Redlock.builder()
                .callbackExecutor(refusing)
                .listener(
                    event -> {
                      if (event instanceof LockEvent.Lost) {
                        events.incrementAndGet();
                      }
                    }));
    AtomicInteger losses = new AtomicInteger();
    for (int i = 0; i < 300; i++) {
      Lease lease = client.acquire("r" + i, TTL);
      lease.onLost(reason -> losses.incrementAndGet());
      lease.lost().thenAccept(reason -> losses.incrementAndGet());
    }
    client.close();
    await().untilAsserted(() -> assertThat(losses).hasValue(600));
    await().untilAsserted(() -> assertThat(events).hasValue(300));
  }

  @Test
  void lossesOfManyLeasesTakeABoundedNumberOfThreadsThoughEachCallbackBlocks() {
    Redlock client = client(Redlock.builder());
    CountDownLatch gate = new CountDownLatch(1);
    AtomicInteger losses = new AtomicInteger();
    Set<Thread> threads = ConcurrentHashMap.newKeySet();
    for (int i = 0; i < 1_000; i++) {
      client
          .acquire("r" + i, TTL)
          .onLost(
              reason -> {
                threads.add(Thread.currentThread());
                pass(gate);
                losses.incrementAndGet();
              });
    }
    Thread closing = new Thread(client::close, "closing");
    closing.start();
    await().until(() -> !threads.isEmpty());
    long platform =
        Thread.getAllStackTraces().keySet().stream() // It has no virtual threads.
            .filter(thread -> thread.getName().startsWith("lukko-callback"))
            .count();
    assertThat(platform).isBetween(1L, 64L);
    gate.countDown();
    await().untilAsserted(() -> assertThat(losses).hasValue(1_000));
    await().until(() -> !closing.isAlive());
  }

  @Test
  void callbacksOfOneLeaseRunOneAfterTheOtherInTheirOrder() {
    Redlock client = client(Redlock.builder());
    List<Integer> order = new CopyOnWriteArrayList<>();
    Lease lease = client.acquire("r", TTL);
    for (int i = 0; i < 100; i++) {
      int number = i;
      lease.onLost(
          reason -> {
            order.add(number);
            if (number % 10 == 0) {
              throw new AssertionError("by the test");
            }
          });
    }
    client.close();
    assertThat(order).hasSize(100).isSorted();
  }

  @Test
  void callbackThatIsRegisteredDuringOrAfterTheCloseIsCalled() throws Exception {
    for (int round = 0; round < 100; round++) {
      Redlock client = Redlock.builder().node(node).closeNodes(false).build();
      Lease lease = client.acquire("r", TTL);
      CountDownLatch called = new CountDownLatch(2);
      Thread closing = new Thread(client::close, "closing");
      closing.start();
      lease.onLost(reason -> called.countDown()); // During.
      closing.join();
      lease.onLost(reason -> called.countDown()); // After.
      assertThat(called.await(20, TimeUnit.SECONDS)).as("round %d", round).isTrue();
    }
  }

  @Test
  void dependentStagesOfEachFutureRunInCallbackThreadsAndNotInThatOfANode() {
    Redlock client = client(Redlock.builder());
    node.fault(Fault.HOLD_REPLIES);
    CompletableFuture<Lease> acquired = client.acquireAsync(LockRequest.of("r", TTL));
    CompletableFuture<String> acquiredIn = acquired.thenApply(lease -> threadName());
    CompletableFuture<String> bodyIn = new CompletableFuture<>();
    CompletableFuture<String> usedIn =
        client
            .usingAsync(
                LockRequest.of("s", TTL),
                lease -> {
                  bodyIn.complete(threadName());
                  return CompletableFuture.completedFuture("");
                })
            .thenApply(value -> threadName());
    node.releaseHeld(); // In this thread, which stands for one of a driver's.
    String callback = "lukko-callback";
    assertThat(get(acquiredIn)).startsWith(callback);
    assertThat(get(bodyIn)).startsWith(callback);
    await()
        .until(
            () -> {
              node.releaseHeld(); // The release behind the body.
              return usedIn.isDone();
            });
    assertThat(get(usedIn)).startsWith(callback);

    Lease lease = get(acquired);
    CompletableFuture<String> extendedIn =
        lease.extendAsync(TTL).thenApply(extended -> threadName());
    node.releaseHeld();
    assertThat(get(extendedIn)).startsWith(callback);
    CompletableFuture<String> releasedIn = lease.releaseAsync().thenApply(released -> threadName());
    node.releaseHeld();
    assertThat(get(releasedIn)).startsWith(callback);

    node.heal();
    Lease losing = client.acquire("r", TTL);
    CompletableFuture<String> lostIn =
        losing.lost().thenApply(reason -> threadName()).toCompletableFuture();
    client.close();
    assertThat(get(lostIn)).startsWith(callback);
  }

  private static String threadName() {
    return Thread.currentThread().getName();
  }

  private static <T> T get(CompletableFuture<T> future) {
    try {
      return future.get(20, TimeUnit.SECONDS);
    } catch (Exception failure) {
      throw new AssertionError(failure);
    }
  }

  @Test
  void bodyOfUsingAsyncThatBlocksDelaysNoLossOfAnotherLease() throws Exception {
    Redlock client = client(Redlock.builder());
    CountDownLatch gate = new CountDownLatch(1);
    CountDownLatch inBody = new CountDownLatch(1);
    node.fault(Fault.HOLD_REPLIES);
    CompletableFuture<String> used =
        client.usingAsync(
            LockRequest.of("blocking", TTL),
            lease -> {
              inBody.countDown();
              pass(gate);
              return CompletableFuture.completedFuture("");
            });
    Thread driver = new Thread(node::heal, "driver");
    driver.start();
    assertThat(inBody.await(20, TimeUnit.SECONDS)).isTrue();
    driver.join(20_000);
    assertThat(driver.isAlive()).as("the driver's thread waits for the body").isFalse();
    CompletableFuture<LossReason> lost = new CompletableFuture<>();
    client.acquire("other", Duration.ofMillis(50)).onLost(lost::complete);
    assertThat(get(lost)).isIn(LossReason.EXPIRED, LossReason.PAUSE_DETECTED);
    gate.countDown();
    get(used);
  }

  @Test
  void slowListenerCostsABoundedMemoryAndHearsHowManyEventsItHasMissed() {
    List<Runnable> waiting = new CopyOnWriteArrayList<>();
    List<LockEvent> events = new ArrayList<>();
    Redlock client =
        Redlock.builder()
            .node(new InMemoryNode("n1"))
            .callbackExecutor(waiting::add)
            .listener(events::add)
            .build();
    for (int i = 0; i < 10_000; i++) {
      client.acquire("r", TTL).release(); // Two events, which nobody hears yet.
    }
    assertThat(waiting).hasSize(1);
    waiting.remove(0).run();
    assertThat(events).hasSize(4_096 + 1);
    assertThat(events.get(4_096)).isEqualTo(new LockEvent.EventsDropped(20_000 - 4_096));
    client.acquire("r", TTL).release();
    waiting.remove(0).run();
    assertThat(events).hasSize(4_096 + 3);
    client.close();
  }

  @Test
  void leaseIsReleasedByTheClientsEndOnlyWhenItsCallbackHasReturned() throws Exception {
    Redlock client = client(Redlock.builder());
    CountDownLatch gate = new CountDownLatch(1);
    CountDownLatch called = new CountDownLatch(1);
    Lease lease = client.acquire("told", TTL);
    lease.onLost(
        reason -> {
          called.countDown();
          pass(gate);
        });
    client.acquire("untold", TTL);
    Thread closing = new Thread(client::close, "closing");
    closing.start();
    assertThat(called.await(20, TimeUnit.SECONDS)).isTrue();
    await().until(() -> !store.isHeld("untold"));
    assertThat(lease.isValid()).isFalse();
    assertThat(store.isHeld("told")).as("while its holder stops").isTrue();
    gate.countDown();
    closing.join(20_000);
    assertThat(closing.isAlive()).isFalse();
    assertThat(store.isHeld("told")).isFalse();
  }

  @Test
  void callbackThatNeverReturnsDelaysTheClientsEndNoLongerThanTheValidity() throws Exception {
    Redlock client = client(Redlock.builder());
    CountDownLatch gate = new CountDownLatch(1);
    client.acquire("told", Duration.ofMillis(500)).onLost(reason -> pass(gate));
    Thread closing = new Thread(client::close, "closing");
    closing.start();
    closing.join(20_000);
    assertThat(closing.isAlive()).isFalse();
    gate.countDown();
  }

  @Test
  void callbackMayCloseItsClient() throws Exception {
    Redlock client = client(Redlock.builder());
    CountDownLatch closed = new CountDownLatch(1);
    client
        .acquire("r", Duration.ofMillis(100))
        .onLost(
            reason -> {
              client.close();
              closed.countDown();
            });
    assertThat(closed.await(20, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void closeInAnInterruptedThreadWaitsForTheAnswersToItsReleases() throws Exception {
    Redlock client = client(Redlock.builder());
    client.acquire("r", TTL);
    node.fault(Fault.HOLD_REQUESTS);
    CompletableFuture<Boolean> flag = new CompletableFuture<>();
    Thread closing =
        new Thread(
            () -> {
              Thread.currentThread().interrupt();
              client.close();
              flag.complete(Thread.currentThread().isInterrupted());
            },
            "closing");
    closing.start();
    await().until(() -> !closing.isAlive() || closing.getState() == Thread.State.TIMED_WAITING);
    assertThat(closing.isAlive()).as("waits for its releases").isTrue();
    assertThat(store.isHeld("r")).isTrue();
    node.heal();
    assertThat(get(flag)).isTrue();
    assertThat(store.isHeld("r")).isFalse();
  }

  @Test
  void releaseAndExtensionUnderWayWhenTheClientClosesEndThoughTheServerHangs() {
    Redlock client =
        invariants.client(
            Redlock.builder()
                .node(node)
                .closeNodes(false)
                .nodeTimeout(Duration.ofMillis(200))
                .build());
    Lease released = client.acquire("released", TTL);
    Lease extended = client.acquire("extended", TTL);
    node.fault(Fault.HOLD_REPLIES);
    CompletableFuture<ReleaseOutcome> release = released.releaseAsync();
    CompletableFuture<Boolean> extension = extended.extendAsync(TTL);
    client.close();
    assertThat(get(release).status()).isEqualTo(ReleaseOutcome.Status.UNKNOWN);
    boolean extendedInVain = get(extension.handle((done, lost) -> lost == null && done));
    assertThat(extendedInVain).isFalse();
    node.heal();
  }
}
