package dev.lukko.scenario;

import static dev.lukko.scenario.Rig.ms;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.Lease;
import dev.lukko.LeaseLostException;
import dev.lukko.LockRequest;
import dev.lukko.LossReason;
import dev.lukko.NodeAnswer;
import dev.lukko.ReleaseOutcome;
import dev.lukko.ReleaseOutcome.Status;
import dev.lukko.memory.InMemoryNode;
import dev.lukko.redlock.Redlock;
import dev.lukko.testkit.EntryPoint;
import dev.lukko.testkit.FaultyNode.Fault;
import dev.lukko.testkit.LockCall;
import dev.lukko.testkit.LockCall.Outcome;
import dev.lukko.testkit.LockInvariants;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** R1 to R5: giving back, giving up, and closing. */
class ReleaseTest {

  private static LockRequest request(long ttlMillis) {
    return LockRequest.builder(Rig.R).ttl(ms(ttlMillis)).maxWait(ms(0)).autoExtend(false).build();
  }

  @Nested
  class ReleaseByHand {
    @RegisterExtension final Rig rig = Rig.of(3);

    @ParameterizedTest
    @EnumSource(names = {"NONE", "DOWN", "HOLD_REQUESTS", "HOLD_REPLIES"})
    void afterExpiryReturnsAtOnceThatItWasNoLongerHeld(Fault fault) {
      Lease lease = rig.client().acquire(request(1_000));
      rig.time.advance(ms(1_000));
      rig.main().fault(fault);
      assertThat(lease.release().status()).isEqualTo(Status.NOT_HELD);
    }

    @Test
    void twiceGivesTheSameOutcomeAndAsksOnce() {
      Lease lease = rig.client().acquire(request(1_000));
      ReleaseOutcome first = lease.release();
      assertThat(first.status()).isEqualTo(Status.RELEASED);
      int requests = rig.main().requests();
      assertThat(lease.release()).isSameAs(first);
      assertThat(lease.releaseAsync()).isCompletedWithValue(first);
      lease.close();
      assertThat(rig.main().requests()).isEqualTo(requests);
    }

    @Test
    void fromManyThreadsAtOnceIsOneRelease() throws Exception {
      Lease lease = rig.client().acquire(request(1_000));
      int before = rig.main().requests();
      ExecutorService threads = Executors.newFixedThreadPool(8);
      try {
        CyclicBarrier barrier = new CyclicBarrier(8);
        List<Future<ReleaseOutcome>> outcomes = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
          outcomes.add(
              threads.submit(
                  () -> {
                    barrier.await(20, TimeUnit.SECONDS);
                    return lease.release();
                  }));
        }
        ReleaseOutcome first = outcomes.get(0).get(20, TimeUnit.SECONDS);
        assertThat(first.status()).isEqualTo(Status.RELEASED);
        for (Future<ReleaseOutcome> outcome : outcomes) {
          assertThat(outcome.get(20, TimeUnit.SECONDS)).isSameAs(first);
        }
      } finally {
        threads.shutdownNow();
      }
      assertThat(rig.main().requests() - before).isEqualTo(3);
    }

    @Test
    void withNodesDownIsUnknownWithTheCauses() {
      Lease lease = rig.client().acquire(request(60_000));
      rig.node(2).fault(Fault.DOWN);
      rig.node(3).fault(Fault.DOWN);
      ReleaseOutcome outcome = lease.release();
      assertThat(outcome.status()).isEqualTo(Status.UNKNOWN);
      assertThat(outcome.answers())
          .extracting(NodeAnswer::toString)
          .containsExactly(
              "n1: released",
              "n2: failed, connection refused (by the test)",
              "n3: failed, connection refused (by the test)");
      rig.main().heal();
      for (int i = 2; i <= 3; i++) {
        rig.store(i).forget(); // A real node would have kept the release.
      }
    }

    @Test
    void withNodesThatHangIsUnknownAfterOneNodeTimeout() {
      Lease lease = rig.client().acquire(request(10_000));
      rig.main().fault(Fault.HOLD_REQUESTS);
      CompletableFuture<ReleaseOutcome> outcome = lease.releaseAsync();
      rig.time.advance(ms(499));
      assertThat(outcome).isNotDone();
      rig.time.advance(ms(1));
      assertThat(outcome)
          .isCompletedWithValueMatching(done -> done.status() == Status.UNKNOWN)
          .isCompletedWithValueMatching(
              done -> done.answers().get(0).toString().contains("no answer within 500 ms"));
    }

    @Test
    void withAMinorityThatHangsDoesNotWaitForIt() {
      Lease lease = rig.client().acquire(request(10_000));
      rig.node(1).fault(Fault.HOLD_REQUESTS);
      ReleaseOutcome outcome = lease.release();
      assertThat(outcome.status()).isEqualTo(Status.RELEASED);
      assertThat(outcome.answers().get(0).kind()).isEqualTo(NodeAnswer.Kind.PENDING);
    }

    @Test
    void leaseIsNotValidFromTheMomentOfTheRelease() {
      Lease lease = rig.client().acquire(request(10_000));
      rig.main().fault(Fault.HOLD_REQUESTS);
      lease.releaseAsync();
      assertThat(lease.isValid()).isFalse();
      assertThat(lease.remaining()).isZero();
      org.assertj.core.api.Assertions.assertThatThrownBy(() -> lease.extend(ms(1_000)))
          .isInstanceOf(LeaseLostException.class)
          .extracting(lost -> ((LeaseLostException) lost).reason())
          .isEqualTo(LossReason.RELEASED);
      rig.time.advance(ms(1_000));
    }

    @ParameterizedTest
    @EnumSource
    void whileTheThreadIsInterruptedGoesThroughAndKeepsTheFlag(EntryPoint entryPoint) {
      if (!entryPoint.isBlocking()) {
        return;
      }
      LockCall call = entryPoint.call(rig.client(), request(10_000));
      rig.main().fault(Fault.HOLD_REPLIES);
      call.beginToFinish();
      call.cancel();
      rig.main().heal();
      call.end();
      assertThat(rig.held()).isEmpty();
    }
  }

  @Nested
  class StaleHolder {
    @RegisterExtension final Rig rig = Rig.of(3);

    @ParameterizedTest
    @EnumSource
    void releasesAndTheNextHoldersEntryStands(EntryPoint entryPoint) {
      LockCall stale = entryPoint.call(rig.client(), request(1_000));
      assertThat(stale.outcome()).isEqualTo(Outcome.GRANTED);
      rig.time.advance(ms(1_000));
      LockCall next = EntryPoint.ACQUIRE_ASYNC.call(rig.party().client(), request(60_000));
      List<String> owners = rig.ownersAt(1);

      assertThat(stale.finish()).get().isInstanceOf(LeaseLostException.class);

      assertThat(rig.held()).containsExactly(1, 2, 3);
      assertThat(rig.ownersAt(1)).isEqualTo(owners);
      assertThat(next.lease().isValid()).isTrue();
      assertThat(next.finish()).isEmpty();
    }

    @Test
    void extendsAndTheNextHoldersEntryStands() {
      rig.main(builder -> builder.driftFactor(0).driftBuffer(java.time.Duration.ZERO));
      LockCall stale = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), request(1_000));
      rig.main().fault(Fault.HOLD_REQUESTS);
      CompletableFuture<Boolean> extension = stale.lease().extendAsync(ms(60_000));
      rig.time.advance(ms(1_000));
      LockCall next = EntryPoint.ACQUIRE_ASYNC.call(rig.party().client(), request(10_000));
      List<String> owners = rig.ownersAt(1);
      rig.main().heal();
      assertThat(extension).isDone();
      assertThat(rig.ownersAt(1)).isEqualTo(owners);
      assertThat(stale.lease().isValid()).isFalse();
      assertThat(stale.finish()).isPresent();
      assertThat(next.finish()).isEmpty();
    }
  }

  @Nested
  class LateGrant {
    @RegisterExtension final Rig rig = Rig.of(3);

    @ParameterizedTest
    @EnumSource(names = {"HOLD_REQUESTS", "HOLD_REPLIES"})
    void afterTheRoundWasLostIsReleasedAgain(Fault fault) {
      rig.holdForeign(1, ms(60_000));
      rig.holdForeign(2, ms(60_000));
      rig.node(3).fault(fault);
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), request(30_000));
      assertThat(call.outcome()).isEqualTo(Outcome.BUSY);
      rig.node(3).fault(Fault.NONE); // Releases sent from now on overtake what is held.
      rig.node(3).releaseHeld();
      assertThat(rig.held()).containsExactly(1, 2);
    }

    @ParameterizedTest
    @EnumSource(names = {"HOLD_REQUESTS", "HOLD_REPLIES"})
    void afterTheReleaseIsReleasedAgain(Fault fault) {
      rig.node(3).fault(fault);
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), request(30_000));
      rig.node(3).fault(Fault.NONE);
      assertThat(call.finish()).isEmpty();
      rig.node(3).releaseHeld();
      assertThat(rig.held()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(names = {"HOLD_REQUESTS", "HOLD_REPLIES"})
    void duringTheHoldIsAVoteAndIsReleasedWithIt(Fault fault) {
      rig.node(3).fault(fault);
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), request(30_000));
      rig.node(3).heal();
      assertThat(rig.held()).containsExactly(1, 2, 3);
      assertThat(call.finish()).isEmpty();
      assertThat(rig.held()).isEmpty();
    }

    @Test
    void afterTheHoldExpiredIsReleasedAgain() {
      rig.node(3).fault(Fault.HOLD_REQUESTS);
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), request(30_000));
      rig.time.advance(ms(30_000));
      rig.node(3).heal();
      assertThat(rig.held()).isEmpty();
      assertThat(call.finish()).isPresent();
    }

    /** The release goes to every node behind the grant, also to those that answer at once. */
    @Test
    void noNodeIsAskedToReleaseBeforeItWasAskedToGrant() {
      for (int refusing = 0; refusing < 8; refusing++) {
        try (Rig each = Rig.of(3)) {
          for (int i = 1; i <= 3; i++) {
            if ((refusing & 1 << i - 1) != 0) {
              each.holdForeign(i, ms(60_000));
            }
          }
          // The reply is lost, so that nothing but the order of the requests can help.
          each.node(3).fault(Fault.LOSE_REPLIES);
          LockCall call = EntryPoint.ACQUIRE_ASYNC.call(each.client(), request(30_000));
          if (call.isWaiting()) {
            each.time.advance(ms(1_000));
          }
          call.finish();
          assertThat(each.ownersAt(3)).hasSize(refusing >> 2);
        }
      }
    }
  }

  @Nested
  class AbandonedCall {
    @RegisterExtension final Rig rig = Rig.of(3);

    @ParameterizedTest
    @EnumSource
    void betweenRequestAndReplyLeavesNothing(EntryPoint entryPoint) {
      for (Fault fault : List.of(Fault.HOLD_REQUESTS, Fault.HOLD_REPLIES)) {
        rig.main().fault(fault);
        LockCall call = entryPoint.call(rig.client(), Rig.request(ms(10_000), ms(30_000)));
        call.cancel();
        assertThat(call.outcome()).isEqualTo(Outcome.CANCELLED);
        if (entryPoint.isBlocking()) {
          assertThat(call.interruptFlagAtEnd()).isTrue();
        }
        rig.main().fault(Fault.NONE);
        rig.main().nodes().forEach(node -> node.releaseHeld());

        assertThat(rig.held()).isEmpty();
        rig.time.advance(ms(500));
        assertThat(rig.time.pending()).as("no renewal, no retry").isZero();
      }
    }

    @ParameterizedTest
    @EnumSource
    void duringTheWaitLeavesNothingAndWakesTheNextInLine(EntryPoint entryPoint) {
      holdAll();
      LockCall first = entryPoint.call(rig.client(), Rig.request(ms(10_000), ms(300_000)));
      LockCall second =
          EntryPoint.ACQUIRE_ASYNC.call(rig.client(), Rig.request(ms(10_000), ms(300_000)));
      first.cancel();
      assertThat(first.outcome()).isEqualTo(Outcome.CANCELLED);
      rig.releaseForeign();
      rig.time.advance(ms(10));
      assertThat(second.outcome()).isEqualTo(Outcome.GRANTED);
      assertThat(second.finish()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(names = {"ACQUIRE_ASYNC", "USING_ASYNC"})
    void endedByATimeoutOfItsFutureLeavesNothingAndStopsTrying(EntryPoint entryPoint) {
      holdAll();
      LockRequest request = Rig.request(ms(10_000), LockRequest.FOREVER);
      CompletableFuture<?> future =
          entryPoint == EntryPoint.ACQUIRE_ASYNC
              ? rig.client().acquireAsync(request)
              : rig.client().usingAsync(request, lease -> new CompletableFuture<>());
      future.completeExceptionally(new java.util.concurrent.TimeoutException()); // As orTimeout.

      rig.time.advance(ms(1_000));
      assertThat(rig.time.pending()).isZero();
      int requests = rig.main().requests();
      rig.time.advance(ms(60_000));
      assertThat(rig.main().requests()).isEqualTo(requests);
    }

    @Test
    void afterTheGrantKeepsTheLeaseUntilTheBodyOfUsingAsyncEnds() {
      LockCall call = EntryPoint.USING_ASYNC.call(rig.client(), Rig.request(ms(10_000), ms(0)));
      call.cancel();
      rig.time.advance(ms(60_000));
      assertThat(rig.held()).containsExactly(1, 2, 3);
      assertThat(call.lease().isValid()).isTrue();
      call.finish();
      assertThat(rig.held()).isEmpty();
    }

    @Test
    void bodyOfUsingAsyncThatGivesNoStageFailsAndReleases() {
      CompletableFuture<String> future = rig.client().usingAsync(Rig.R, ms(10_000), lease -> null);
      assertThat(future).isCompletedExceptionally();
      assertThat(rig.held()).isEmpty();
    }

    @Test
    void bodyOfUsingAsyncThatThrowsFailsAndReleases() {
      IllegalStateException failure = new IllegalStateException("by the test");
      CompletableFuture<String> future =
          rig.client()
              .usingAsync(
                  Rig.R,
                  ms(10_000),
                  lease -> {
                    throw failure;
                  });
      assertThat(future).isCompletedExceptionally();
      assertThat(future.handle((value, seen) -> seen).join()).isSameAs(failure);
      assertThat(rig.held()).isEmpty();
    }

    /** The grant and the interrupt meet: whoever wins, nobody holds a lease that nobody has. */
    @Test
    void interruptedInTheMomentOfTheGrantLeavesNothing() throws Exception {
      GatedWatchNode gated = new GatedWatchNode(new InMemoryNode("gated", rig.time));
      Redlock client =
          rig.invariants.client(
              Redlock.builder()
                  .node(rig.invariants.node(gated))
                  .ticker(rig.time)
                  .scheduler(rig.time)
                  .build());
      Lease before = client.acquire(Rig.request(ms(10_000)));
      LockRequest waiting =
          LockRequest.builder(Rig.R).ttl(ms(10_000)).maxWait(ms(60_000)).autoExtend(true).build();
      LockCall call = EntryPoint.ACQUIRE.call(client, waiting);
      assertThat(call.isWaiting()).isTrue();
      gated.shut(); // The granting thread stops where it ends the watch.
      Thread granting = new Thread(before::release, "granting");
      granting.start();
      gated.awaitSomebody();
      call.cancel();
      Outcome outcome = call.outcome();
      gated.open();
      granting.join(20_000);

      if (outcome == Outcome.GRANTED) {
        assertThat(call.finish()).isEmpty();
      } else {
        assertThat(outcome).isEqualTo(Outcome.CANCELLED);
      }
      rig.time.runDue();
      assertThat(gated.isHeld(Rig.R)).isFalse();
    }

    /** Cancelling meets the end of a lost round; whoever comes second must tidy up the line. */
    @Test
    void cancelledInTheMomentOfALostRoundDoesNotBlockTheLine() throws Exception {
      holdAll();
      ExecutorService threads = Executors.newFixedThreadPool(1);
      try {
        CyclicBarrier barrier = new CyclicBarrier(2);
        for (int i = 0; i < 3_000; i++) {
          rig.main().fault(Fault.HOLD_REPLIES);
          CompletableFuture<Lease> future =
              rig.client().acquireAsync(Rig.request(ms(10_000), ms(300_000)));
          Future<?> cancelling =
              threads.submit(
                  () -> {
                    barrier.await(20, TimeUnit.SECONDS);
                    return future.cancel(false);
                  });
          barrier.await(20, TimeUnit.SECONDS);
          rig.main().heal();
          cancelling.get(20, TimeUnit.SECONDS);
        }
      } finally {
        threads.shutdownNow();
      }
      rig.time.runDue();
      rig.releaseForeign();
      LockCall next =
          EntryPoint.ACQUIRE_ASYNC.call(rig.client(), Rig.request(ms(10_000), ms(300_000)));
      assertThat(next.isWaiting()).as("waits behind one who has gone").isFalse();
      assertThat(next.finish()).isEmpty();
    }

    private void holdAll() {
      for (int i = 1; i <= 3; i++) {
        rig.holdForeign(i, ms(3_600_000));
      }
    }
  }

  @Nested
  class Close {
    @RegisterExtension final Rig rig = Rig.of(3);

    @ParameterizedTest
    @EnumSource
    void endsWaitingCalls(EntryPoint entryPoint) {
      for (int i = 1; i <= 3; i++) {
        rig.holdForeign(i, ms(60_000));
      }
      LockCall first = entryPoint.call(rig.client(), Rig.request(ms(10_000), ms(30_000)));
      LockCall inLine = entryPoint.call(rig.client(), Rig.request(ms(10_000), ms(30_000)));
      rig.client().close();
      assertThat(first.outcome()).isEqualTo(Outcome.CLOSED);
      assertThat(inLine.outcome()).isEqualTo(Outcome.CLOSED);
      assertThat(rig.time.pending()).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void whileNodesHangReturnsAndNothingIsLeftWhenTheyWake(EntryPoint entryPoint) {
      rig.main(builder -> builder.nodeTimeout(ms(1))); // How long closing waits, in real time.
      rig.main().fault(Fault.HOLD_REQUESTS);
      LockCall call = entryPoint.call(rig.client(), Rig.request(ms(10_000), ms(30_000)));
      rig.client().close();
      assertThat(call.outcome()).isEqualTo(Outcome.CLOSED);
      rig.main().heal();
      assertThat(rig.held()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void releasesLiveLeasesAndTellsTheirHolders(EntryPoint entryPoint) {
      LockCall call = entryPoint.call(rig.client(), request(10_000));
      List<LossReason> losses = new ArrayList<>();
      call.lease().onLost(losses::add);
      rig.client().close();
      assertThat(rig.held()).isEmpty();
      rig.time.runDue();
      assertThat(losses).containsExactly(LossReason.CLIENT_CLOSED);
      assertThat(call.finish())
          .get()
          .isInstanceOf(LeaseLostException.class)
          .extracting(lost -> ((LeaseLostException) lost).reason())
          .isEqualTo(LossReason.CLIENT_CLOSED);
    }

    @Test
    void leavesEntriesIfItWasBuiltSoButRenewsThemNoMore() {
      rig.main(builder -> builder.releaseOnClose(false));
      LockCall call =
          EntryPoint.ACQUIRE_ASYNC.call(
              rig.client(), LockRequest.builder(Rig.R).ttl(ms(10_000)).autoExtend(true).build());
      rig.client().close();
      assertThat(rig.held()).containsExactly(1, 2, 3);
      assertThat(call.lease().isValid()).isFalse();
      rig.time.advance(ms(10_000));
      assertThat(rig.held()).isEmpty();
      assertThat(call.finish()).isPresent();
    }

    @ParameterizedTest
    @EnumSource
    void refusesLaterCalls(EntryPoint entryPoint) {
      rig.client().close();
      int requests = rig.main().requests();
      assertThat(entryPoint.call(rig.client(), request(10_000)).outcome())
          .isEqualTo(Outcome.CLOSED);
      assertThat(rig.main().requests()).isEqualTo(requests);
      rig.client().close();
    }

    @Test
    void laterAsynchronousCallFailsByItsFuture() {
      rig.client().close();
      assertThat(rig.client().acquireAsync(request(10_000))).isCompletedExceptionally();
      assertThat(rig.client().usingAsync(request(10_000), lease -> new CompletableFuture<>()))
          .isCompletedExceptionally();
    }
  }

  @Nested
  class ThousandClients {
    @RegisterExtension final LockInvariants invariants = new LockInvariants();

    @Test
    void openedUsedAndClosedLeaveNoThreadAndNoTimer() {
      InMemoryNode first = new InMemoryNode("n1");
      InMemoryNode second = new InMemoryNode("n2");
      InMemoryNode third = new InMemoryNode("n3");
      for (int i = 0; i < 1_000; i++) {
        dev.lukko.testkit.FaultyNode hanging = new dev.lukko.testkit.FaultyNode(third);
        Redlock client =
            Redlock.builder()
                .node(first)
                .node(second)
                .node(hanging)
                .nodeTimeout(ms(1)) // How long closing waits for the one that hangs.
                .listener(e -> {})
                .build();
        if (i % 2 == 0) {
          hanging.fault(Fault.HOLD_REQUESTS);
        }
        Lease lease =
            client.acquire(LockRequest.builder(Rig.R).ttl(ms(30_000)).autoExtend(true).build());
        if (i % 3 == 0) {
          lease.close();
        }
        client.close();
        hanging.heal();
        assertThat(first.isHeld(Rig.R) || second.isHeld(Rig.R) || third.isHeld(Rig.R)).isFalse();
      }
    }
  }
}
