package dev.lukko.view;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.lukko.Lease;
import dev.lukko.LockBusyException;
import dev.lukko.LockClient;
import dev.lukko.LockEvent;
import dev.lukko.LockNotAcquiredException;
import dev.lukko.LockRequest;
import dev.lukko.LossReason;
import dev.lukko.memory.InMemoryNode;
import dev.lukko.redlock.Redlock;
import dev.lukko.testkit.FaultyNode;
import dev.lukko.testkit.LockInvariants;
import dev.lukko.testkit.ManualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

class AdviceTest {
  private static final Duration TTL = Duration.ofSeconds(30);

  @RegisterExtension final LockInvariants invariants = new LockInvariants();
  private final List<LockEvent> events = new CopyOnWriteArrayList<>();

  private LockClient realTimeClient() {
    return invariants.client(
        Redlock.builder()
            .node(invariants.node(new InMemoryNode("n1")))
            .listener(events::add)
            .build());
  }

  private static LockRequest request(String name, Duration maxWait) {
    return LockRequest.builder(name).ttl(TTL).maxWait(maxWait).build();
  }

  @Test
  void threadsThatWaitForEachOtherAreNamedInTheErrorAndInAnEvent() throws Exception {
    LockClient locks = realTimeClient();
    CyclicBarrier bothHold = new CyclicBarrier(2);
    List<String> advice = new CopyOnWriteArrayList<>();
    Threads.together(
        2,
        thread -> {
          Thread.currentThread().setName("worker-" + thread);
          try (Lease mine = locks.acquire("lock-" + thread, TTL)) {
            bothHold.await(20, TimeUnit.SECONDS);
            String other = "lock-" + (1 - thread);
            assertThatThrownBy(() -> locks.acquire(request(other, Duration.ofMillis(700))))
                .isInstanceOfSatisfying(
                    LockBusyException.class,
                    busy -> busy.suspectedDeadlock().ifPresent(advice::add));
            bothHold.await(20, TimeUnit.SECONDS);
            mine.ensureValid();
          }
        });
    assertThat(advice).isNotEmpty();
    assertThat(advice.get(0))
        .contains("thread worker-0 waits for lock-1 held by thread worker-1")
        .contains("thread worker-1 waits for lock-0 held by thread worker-0");
    await().until(() -> events.stream().anyMatch(LockEvent.DeadlockSuspected.class::isInstance));
  }

  @Test
  void threadThatWaitsForItselfIsTold() {
    LockClient locks = realTimeClient();
    try (Lease mine = locks.acquire("r", TTL)) {
      assertThatThrownBy(() -> locks.acquire(request("r", Duration.ofMillis(300))))
          .isInstanceOfSatisfying(
              LockNotAcquiredException.class,
              busy ->
                  assertThat(busy.suspectedDeadlock().orElseThrow())
                      .contains("waits for r held by thread "))
          .hasMessageContaining("suspected deadlock");
      mine.ensureValid();
    }
  }

  @Test
  void waitWithoutACircleGivesNoAdvice() throws Exception {
    LockClient locks = realTimeClient();
    try (Lease mine = locks.acquire("r", TTL)) {
      Threads.together(
          1,
          thread ->
              assertThatThrownBy(() -> locks.acquire(request("r", Duration.ofMillis(10))))
                  .isInstanceOfSatisfying(
                      LockBusyException.class,
                      busy -> assertThat(busy.suspectedDeadlock()).isEmpty()));
      mine.ensureValid();
    }
  }

  @Test
  void leaseThatNobodyCanReachIsReportedAndNoLongerExtended() {
    ManualTime time = invariants.time(new ManualTime());
    InMemoryNode store = new InMemoryNode("n1", time);
    FaultyNode node = invariants.node(store);
    LockClient locks =
        invariants.client(
            Redlock.builder()
                .node(node)
                .ticker(time)
                .scheduler(time)
                .traceLeaks(true)
                .listener(events::add)
                .build());
    acquireAndForget(locks);
    await()
        .until(
            () -> {
              System.gc();
              time.advance(Duration.ofSeconds(1));
              return events.stream().anyMatch(LockEvent.Leaked.class::isInstance);
            });
    time.advance(TTL);
    assertThat(store.isHeld("leaked")).isFalse();
    LockEvent.Leaked leaked =
        events.stream()
            .filter(LockEvent.Leaked.class::isInstance)
            .map(LockEvent.Leaked.class::cast)
            .findFirst()
            .orElseThrow();
    assertThat(leaked.acquiredAt().orElseThrow().getStackTrace())
        .anyMatch(frame -> frame.getMethodName().equals("acquireAndForget"));
    assertThat(events.stream().filter(LockEvent.Leaked.class::isInstance)).hasSize(1);
  }

  @Test
  void leaseThatNobodyCanReachIsExtendedAsLongAsSomebodyIsToHearOfItsLoss() {
    ManualTime time = invariants.time(new ManualTime());
    InMemoryNode store = new InMemoryNode("n1", time);
    LockClient locks =
        invariants.client(
            Redlock.builder()
                .node(invariants.node(store))
                .ticker(time)
                .scheduler(time)
                .listener(events::add)
                .build());
    List<LossReason> losses = new ArrayList<>();
    acquireAndListen(locks, "by callback").onLost(losses::add);
    acquireAndListen(locks, "by stage").lost().thenAccept(losses::add);
    acquireAndForget(locks);
    await() // The third was collected, and with it, most likely, the other two.
        .until(
            () -> {
              System.gc();
              time.advance(Duration.ofSeconds(1));
              return events.stream().anyMatch(LockEvent.Leaked.class::isInstance);
            });
    System.gc();
    time.advance(TTL.multipliedBy(3));
    assertThat(store.isHeld("leaked")).isFalse();
    assertThat(store.isHeld("by callback")).isTrue();
    assertThat(store.isHeld("by stage")).isTrue();
    assertThat(losses).isEmpty();
    store.forget();
    time.advance(TTL);
    assertThat(losses).hasSize(2);
  }

  private static Lease acquireAndListen(LockClient locks, String name) {
    return locks.acquire(LockRequest.builder(name).ttl(TTL).autoExtend(true).build());
  }

  private static void acquireAndForget(LockClient locks) {
    locks.acquire(LockRequest.builder("leaked").ttl(TTL).autoExtend(true).build());
  }

  @Test
  void listenerThatThrowsChangesNothing() {
    LockClient locks =
        invariants.client(
            Redlock.builder()
                .node(invariants.node(new InMemoryNode("n1")))
                .listener(
                    event -> {
                      throw new IllegalStateException("a bad listener");
                    })
                .listener(events::add)
                .build());
    locks.run("r", TTL, lease -> lease.extend(TTL));
    await()
        .untilAsserted(
            () ->
                assertThat(events)
                    .<Class<?>>extracting(LockEvent::getClass)
                    .containsExactly(
                        LockEvent.Acquired.class,
                        LockEvent.Extended.class,
                        LockEvent.Released.class));
  }

  @Test
  void flightRecordingShowsAcquisitionHoldAndLoss(@TempDir java.nio.file.Path folder)
      throws Exception {
    ManualTime time = invariants.time(new ManualTime());
    LockClient locks =
        invariants.client(
            Redlock.builder()
                .node(invariants.node(new InMemoryNode("n1", time)))
                .ticker(time)
                .scheduler(time)
                .build());
    java.nio.file.Path file = folder.resolve("lukko.jfr");
    try (Recording recording = new Recording()) {
      recording.enable("dev.lukko.Acquire").withoutThreshold();
      recording.enable("dev.lukko.Hold").withoutThreshold();
      recording.enable("dev.lukko.Loss");
      recording.start();
      Lease lease = locks.acquire("recorded", Duration.ofSeconds(1));
      time.advance(Duration.ofSeconds(1));
      lease.release();
      recording.stop();
      recording.dump(file);
    }
    assertThat(RecordingFile.readAllEvents(file))
        .filteredOn(event -> event.getEventType().getName().startsWith("dev.lukko."))
        .allMatch(event -> event.getString("resources").equals("recorded"))
        .extracting((RecordedEvent event) -> event.getEventType().getName())
        .containsExactlyInAnyOrder("dev.lukko.Acquire", "dev.lukko.Hold", "dev.lukko.Loss");
  }
}
