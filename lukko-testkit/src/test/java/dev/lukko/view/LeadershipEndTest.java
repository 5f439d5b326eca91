package dev.lukko.view;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lukko.Leadership;
import dev.lukko.LockClient;
import dev.lukko.LossReason;
import dev.lukko.memory.InMemoryNode;
import dev.lukko.redlock.Redlock;
import dev.lukko.testkit.LockInvariants;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Each term is reported as begun, then as ended, once each; then the next campaign. */
class LeadershipEndTest {
  private static final Duration TTL = Duration.ofSeconds(60);

  @RegisterExtension final LockInvariants invariants = new LockInvariants();
  private final InMemoryNode store = new InMemoryNode("n1");
  private final LockClient client =
      invariants.client(Redlock.builder().node(invariants.node(store)).build());
  private final List<String> told = new CopyOnWriteArrayList<>();

  private static void pass(CountDownLatch gate) {
    try {
      if (!gate.await(60, TimeUnit.SECONDS)) {
        throw new AssertionError("the gate was never opened");
      }
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void quickCloseReportsTheBeginBeforeTheEndAndBothOnce() {
    for (int round = 0; round < 500; round++) {
      told.clear();
      Leadership leadership =
          Leadership.builder(client, "quick", TTL)
              .onElected(term -> told.add("elected"))
              .onLost(reason -> told.add(reason.name()))
              .start();
      if (round % 2 == 0) {
        await().until(leadership::isLeader);
      }
      leadership.close();
      assertThat(told).isIn(List.of(), List.of("elected", "RELEASED"));
    }
  }

  @Test
  void leaderThatReleasesItsTermIsToldAndCampaignsAgain() {
    AtomicInteger terms = new AtomicInteger();
    try (Leadership leadership =
        Leadership.builder(client, "own", TTL)
            .onElected(
                term -> {
                  told.add("elected");
                  int number = terms.incrementAndGet();
                  if (number == 1) {
                    term.release();
                  } else if (number == 2) {
                    term.releaseAsync();
                  } else if (number == 3) {
                    term.close();
                  }
                })
            .onLost(reason -> told.add(reason.name()))
            .start()) {
      await()
          .untilAsserted(
              () ->
                  assertThat(told)
                      .containsExactly(
                          "elected",
                          "RELEASED",
                          "elected",
                          "RELEASED",
                          "elected",
                          "RELEASED",
                          "elected"));
      assertThat(leadership.isLeader()).isTrue();
    }
    assertThat(told).hasSize(8).endsWith("RELEASED");
  }

  @Test
  void leaderWhoseBeginThrowsGivesTheTermUpIsToldAndCampaignsAgain() {
    AtomicInteger terms = new AtomicInteger();
    try (Leadership leadership =
        Leadership.builder(client, "failing", TTL)
            .onElected(
                term -> {
                  told.add("elected");
                  if (terms.incrementAndGet() == 1) {
                    throw new AssertionError("by the test");
                  }
                })
            .onLost(reason -> told.add(reason.name()))
            .start()) {
      await()
          .untilAsserted(() -> assertThat(told).containsExactly("elected", "RELEASED", "elected"));
      assertThat(leadership.isLeader()).isTrue();
    }
  }

  @Test
  void closeReleasesTheTermOnlyWhenItsLeaderHasStopped() throws Exception {
    CountDownLatch stopping = new CountDownLatch(1);
    CountDownLatch gate = new CountDownLatch(1);
    Leadership leadership =
        Leadership.builder(client, "r", TTL)
            .onLost(
                reason -> {
                  stopping.countDown();
                  pass(gate);
                })
            .start();
    await().until(leadership::isLeader);
    Thread closing =
        new Thread(
            () -> {
              Thread.currentThread().interrupt(); // Which is no reason to be quicker.
              leadership.close();
            },
            "closing");
    closing.start();
    assertThat(stopping.await(20, TimeUnit.SECONDS)).isTrue();
    assertThat(leadership.isLeader()).isFalse();
    assertThat(store.isHeld("r")).as("while the leader stops").isTrue();
    gate.countDown();
    closing.join(20_000);
    assertThat(closing.isAlive()).isFalse();
    assertThat(store.isHeld("r")).isFalse();
  }

  @Test
  void endOfTheClientReleasesTheTermOnlyWhenItsLeaderHasStopped() throws Exception {
    CountDownLatch stopping = new CountDownLatch(1);
    CountDownLatch gate = new CountDownLatch(1);
    AtomicReference<LossReason> why = new AtomicReference<>();
    Leadership leadership =
        Leadership.builder(client, "r", TTL)
            .onLost(
                reason -> {
                  why.set(reason);
                  stopping.countDown();
                  pass(gate);
                })
            .start();
    await().until(leadership::isLeader);
    Thread closing = new Thread(client::close, "closing");
    closing.start();
    assertThat(stopping.await(20, TimeUnit.SECONDS)).isTrue();
    assertThat(store.isHeld("r")).as("while the leader stops").isTrue();
    gate.countDown();
    closing.join(20_000);
    assertThat(store.isHeld("r")).isFalse();
    assertThat(why).hasValue(LossReason.CLIENT_CLOSED);
    leadership.close();
  }

  @Test
  void beginThatNeverReturnsDoesNotKeepALossFromBeingReported() throws Exception {
    CountDownLatch gate = new CountDownLatch(1);
    CountDownLatch lost = new CountDownLatch(1);
    Leadership leadership =
        Leadership.builder(client, "r", TTL)
            .onElected(
                term -> {
                  term.releaseAsync();
                  pass(gate);
                })
            .onLost(reason -> lost.countDown())
            .start();
    assertThat(lost.await(20, TimeUnit.SECONDS)).isTrue();
    gate.countDown();
    leadership.close();
  }

  @Test
  void callbackMayCloseTheLeadership() {
    AtomicReference<Leadership> itself = new AtomicReference<>();
    CountDownLatch known = new CountDownLatch(1);
    CountDownLatch closed = new CountDownLatch(1);
    itself.set(
        Leadership.builder(client, "r", TTL)
            .onElected(
                term -> {
                  pass(known);
                  itself.get().close();
                  closed.countDown();
                })
            .onLost(reason -> told.add(reason.name()))
            .start());
    known.countDown();
    pass(closed);
    await().until(() -> !store.isHeld("r"));
    assertThat(told).containsExactly("RELEASED");
  }
}
