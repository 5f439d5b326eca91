package dev.lukko.scenario;

import static dev.lukko.scenario.Rig.ms;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lukko.Lease;
import dev.lukko.LeaseLostException;
import dev.lukko.LockRequest;
import dev.lukko.LossReason;
import dev.lukko.ReleaseOutcome;
import dev.lukko.spi.LockEntry;
import dev.lukko.testkit.EntryPoint;
import dev.lukko.testkit.FaultyNode.Fault;
import dev.lukko.testkit.LockCall;
import dev.lukko.testkit.rows.FaultRow;
import dev.lukko.time.Ticker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** H1, H2, H5, H6, H8: how a lease is lost, and who learns of it. */
class LossTest {

  private static LockRequest request(long ttlMillis, boolean autoExtend) {
    return LockRequest.builder(Rig.R)
        .ttl(ms(ttlMillis))
        .maxWait(ms(0))
        .autoExtend(autoExtend)
        .build();
  }

  private static List<LossReason> lossesOf(Lease lease) {
    List<LossReason> losses = new ArrayList<>();
    lease.onLost(losses::add);
    return losses;
  }

  private static void assertEndsWithLoss(LockCall call, LossReason reason) {
    assertThat(call.finish())
        .get()
        .isInstanceOf(LeaseLostException.class)
        .extracting(lost -> ((LeaseLostException) lost).reason())
        .isEqualTo(reason);
  }

  @Nested
  class AllNodesHangAfterTheGrant {
    @RegisterExtension final Rig rig = Rig.of(3);

    @ParameterizedTest
    @EnumSource
    void lossIsSignalledOnceAtTheEndOfTheValidity(EntryPoint entryPoint) {
      for (boolean autoExtend : new boolean[] {true, false}) {
        LockCall call = entryPoint.call(rig.client(), request(1_000, autoExtend));
        Lease lease = call.lease();
        List<LossReason> losses = lossesOf(lease);
        CompletableFuture<LossReason> stage = lease.lost().toCompletableFuture();
        rig.main().fault(autoExtend ? Fault.HOLD_REQUESTS : Fault.HOLD_REPLIES);

        rig.time.advance(ms(987));
        assertThat(lease.isValid()).isTrue();
        assertThat(losses).isEmpty();
        rig.time.advance(ms(1));

        assertThat(losses).containsExactly(LossReason.EXPIRED);
        assertThat(stage).isCompletedWithValue(LossReason.EXPIRED);
        assertThat(lease.isValid()).isFalse();
        assertThat(lease.remaining()).isZero();
        assertEndsWithLoss(call, LossReason.EXPIRED);
        rig.main().heal();
        rig.time.advance(ms(5_000));
        assertThat(lease.isValid()).as("never revived").isFalse();
        assertThat(losses).hasSize(1);
        assertThat(rig.held()).isEmpty();
      }
    }

    @Test
    void lateRepliesOfExtensionsDoNotReviveIt() {
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), request(1_000, true));
      Lease lease = call.lease();
      rig.time.advance(ms(300));
      rig.main().fault(Fault.HOLD_REPLIES); // The nodes extend, and nobody hears of it.
      rig.time.advance(ms(688));
      assertThat(lease.isValid()).isFalse();

      rig.main().heal();
      rig.time.runDue();

      assertThat(lease.isValid()).isFalse();
      assertThatThrownBy(() -> lease.extend(ms(1_000))).isInstanceOf(LeaseLostException.class);
      assertEndsWithLoss(call, LossReason.EXPIRED);
      assertThat(rig.held()).isEmpty();
    }

    @Test
    void callbackThatComesAfterTheLossIsCalledAtOnceAndOnce() {
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), request(1_000, false));
      rig.time.advance(ms(2_000));
      List<LossReason> losses = lossesOf(call.lease());
      rig.time.runDue();
      assertThat(losses).hasSize(1);
      assertThat(call.finish()).isPresent();
    }

    @Test
    void callbackIsNotCalledAfterRelease() {
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), request(1_000, false));
      List<LossReason> losses = lossesOf(call.lease());
      CompletableFuture<LossReason> stage = call.lease().lost().toCompletableFuture();
      assertThat(call.finish()).isEmpty();
      losses.addAll(lossesOf(call.lease()));
      rig.time.advance(ms(5_000));
      assertThat(losses).isEmpty();
      assertThat(stage).isNotDone();
    }
  }

  @Nested
  class EntryStolenOnAMajority {
    @RegisterExtension final Rig rig = Rig.of(3);

    @ParameterizedTest
    @EnumSource
    void lossIsSignalledByTheFirstExtension(EntryPoint entryPoint) {
      LockCall call = entryPoint.call(rig.client(), request(3_000, true));
      List<LossReason> losses = lossesOf(call.lease());
      steal(call.lease(), 1, 2);

      rig.time.advance(ms(1_000));

      assertThat(losses).containsExactly(LossReason.TAKEN_OVER);
      assertThat(call.lease().isValid()).isFalse();
      assertEndsWithLoss(call, LossReason.TAKEN_OVER);
    }

    @Test
    void deletedEntryIsALossToo() {
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), request(3_000, true));
      List<LossReason> losses = lossesOf(call.lease());
      rig.store(2).forget();
      rig.store(3).forget();
      rig.time.advance(ms(1_000));
      assertThat(losses).containsExactly(LossReason.NOT_HELD);
      assertEndsWithLoss(call, LossReason.NOT_HELD);
      assertThat(rig.held()).as("nothing was put back").isEmpty();
    }

    @Test
    void minorityIsNoLoss() {
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), request(3_000, true));
      steal(call.lease(), 1);
      rig.time.advance(ms(30_000));
      assertThat(call.lease().isValid()).isTrue();
      assertThat(call.finish()).isEmpty();
    }

    @Test
    void majorityOfTheDenialsMayComeAfterTheRoundWasGivenUp() {
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), request(3_000, true));
      List<LossReason> losses = lossesOf(call.lease());
      steal(call.lease(), 1, 2);
      rig.node(2).fault(Fault.HOLD_REPLIES);
      rig.node(3).fault(Fault.HOLD_REPLIES);
      rig.time.advance(ms(2_000));
      assertThat(losses).isEmpty();
      rig.node(2).releaseHeld();
      rig.time.runDue();
      assertThat(losses).containsExactly(LossReason.TAKEN_OVER);
      assertThat(call.finish()).isPresent();
    }

    @Test
    void extensionByHandLearnsOfIt() {
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), request(3_000, false));
      steal(call.lease(), 1, 3);
      assertThatThrownBy(() -> call.lease().extend(ms(3_000)))
          .isInstanceOf(LeaseLostException.class)
          .hasMessageContaining("another owner");
      assertThat(call.finish()).isPresent();
    }

    @ParameterizedTest
    @EnumSource
    void releaseThatLearnsOfItDoesNotEndInSilence(EntryPoint entryPoint) {
      LockCall call = entryPoint.call(rig.client(), request(3_000, false));
      steal(call.lease(), 1, 2);
      assertThat(call.finish())
          .get()
          .isInstanceOf(LeaseLostException.class)
          .extracting(lost -> ((LeaseLostException) lost).reason())
          .isEqualTo(LossReason.NOT_HELD);
    }

    @Test
    void releaseByHandTellsItByItsOutcomeAndCloseIsSilentThen() {
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), request(3_000, false));
      steal(call.lease(), 1, 2);
      assertThat(call.lease().release().status()).isEqualTo(ReleaseOutcome.Status.NOT_HELD);
      assertThat(call.finish()).isEmpty();
    }

    private void steal(Lease lease, int... numbers) {
      for (int number : numbers) {
        rig.store(number).release(LockEntry.exclusive(lease.resources(), lease.owner()));
        rig.holdForeign(number, Duration.ofHours(1));
      }
    }
  }

  @Nested
  class ProcessStoodStill {
    @RegisterExtension final Rig rig = Rig.of(3);

    @FaultRow(25)
    @ParameterizedTest
    @EnumSource
    void validityIsFalseBeforeAnyTimerRan(EntryPoint entryPoint) {
      LockCall call = entryPoint.call(rig.client(), request(1_000, true));
      Lease lease = call.lease();
      List<LossReason> losses = lossesOf(lease);

      rig.time.pauseProcess(ms(3_000));

      assertThat(lease.isValid()).isFalse();
      assertThat(lease.remaining()).isZero();
      assertThatThrownBy(lease::ensureValid)
          .isInstanceOf(LeaseLostException.class)
          .extracting(lost -> ((LeaseLostException) lost).reason())
          .isEqualTo(LossReason.PAUSE_DETECTED);
      assertThatThrownBy(() -> lease.extend(ms(1_000))).isInstanceOf(LeaseLostException.class);
      rig.time.runDue();
      assertThat(losses).containsExactly(LossReason.PAUSE_DETECTED);
      assertEndsWithLoss(call, LossReason.PAUSE_DETECTED);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20})
    void lossIsToldInTimeAfterWhicheverLookAtAClockItWasWhileTheLockWasAcquired(int look) {
      AtomicInteger looks = new AtomicInteger();
      Runnable standStill =
          () -> {
            if (looks.incrementAndGet() == look) {
              rig.time.pauseProcess(ms(400));
            }
          };
      Rig.Party party = rig.party(builder -> builder.ticker(watched(standStill)));
      Lease lease = party.client().acquireAsync(request(1_000, false)).join();
      List<LossReason> losses = lossesOf(lease);

      rig.time.advance(lease.remaining().plusMillis(2));

      assertThat(losses).hasSize(1);
      lease.release();
    }

    private Ticker watched(Runnable look) {
      return new Ticker() {
        @Override
        public long nanoTime() {
          long now = rig.time.nanoTime();
          look.run();
          return now;
        }

        @Override
        public long wallMicros() {
          long now = rig.time.wallMicros();
          look.run();
          return now;
        }
      };
    }

    @Test
    void nextHolderHasAHigherTokenAndTheOldOneKeepsItsOwn() {
      LockCall old = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), request(1_000, true));
      long token = old.lease().fencingToken();
      rig.time.pauseProcess(ms(3_000));
      LockCall next = EntryPoint.ACQUIRE_ASYNC.call(rig.party().client(), request(10_000, true));
      assertThat(next.lease().fencingToken()).isGreaterThan(token);
      assertThat(old.lease().fencingToken()).isEqualTo(token);
      assertThat(old.finish()).isPresent();
      assertThat(next.lease().isValid()).isTrue();
      assertThat(next.finish()).isEmpty();
    }

    @Test
    void extensionThatWasUnderWayDoesNotReviveIt() {
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), request(1_000, false));
      rig.main().fault(Fault.HOLD_REPLIES);
      CompletableFuture<Boolean> extension = call.lease().extendAsync(ms(60_000));
      rig.time.pauseProcess(ms(2_000));
      rig.main().heal(); // The replies were there when the process went on.
      assertThat(call.lease().isValid()).isFalse();
      rig.time.runDue();
      assertThat(extension).isCompletedExceptionally();
      assertThat(call.finish()).isPresent();
    }
  }

  @Nested
  class BodyEndsAfterTheLoss {
    @RegisterExtension final Rig rig = Rig.of(3);

    @ParameterizedTest
    @EnumSource
    void itsExceptionIsSeenWithTheLossSuppressedInIt(EntryPoint entryPoint) {
      LockCall call = entryPoint.call(rig.client(), request(1_000, false));
      rig.time.advance(ms(2_000));
      Exception failure = new Exception("by the body");

      Optional<Throwable> seen = call.finishWith(failure);

      assertThat(seen).containsSame(failure);
      if (entryPoint != EntryPoint.ACQUIRE_ASYNC) { // There the body is not ours to see.
        assertThat(failure.getSuppressed()).singleElement().isInstanceOf(LeaseLostException.class);
      }
    }

    @ParameterizedTest
    @EnumSource(names = {"USING", "RUN", "USING_ASYNC"})
    void uncertainReleaseIsSuppressedInItsException(EntryPoint entryPoint) {
      LockCall call = entryPoint.call(rig.client(), request(60_000, false));
      rig.main().fault(Fault.DOWN);
      Exception failure = new Exception("by the body");
      assertThat(call.finishWith(failure)).containsSame(failure);
      assertThat(failure.getSuppressed())
          .singleElement()
          .satisfies(
              release ->
                  assertThat(release)
                      .hasMessageContaining("n1: failed")
                      .hasNoSuppressedExceptions());
      rig.main().heal();
      rig.stores.forEach(store -> store.forget()); // Real nodes would have kept the release.
    }

    @ParameterizedTest
    @EnumSource
    void itsValueIsCarriedByTheError(EntryPoint entryPoint) {
      LockCall call = entryPoint.call(rig.client(), request(1_000, false));
      rig.time.advance(ms(2_000));
      assertThat(call.finish())
          .get()
          .isInstanceOf(LeaseLostException.class)
          .extracting(lost -> ((LeaseLostException) lost).value())
          .isEqualTo(
              entryPoint == EntryPoint.USING || entryPoint == EntryPoint.USING_ASYNC
                  ? Optional.of("value")
                  : Optional.empty());
    }

    @ParameterizedTest
    @EnumSource
    void itsExceptionIsSeenAloneWhenNothingWasLost(EntryPoint entryPoint) {
      LockCall call = entryPoint.call(rig.client(), request(1_000, false));
      Exception failure = new Exception("by the body");
      assertThat(call.finishWith(failure)).containsSame(failure);
      assertThat(failure).hasNoSuppressedExceptions();
      assertThat(rig.held()).isEmpty();
    }

    @Test
    void interruptForTheLossReachesTheBodyAndDoesNotOutliveIt() throws Exception {
      LockRequest request =
          LockRequest.builder(Rig.R)
              .ttl(ms(1_000))
              .maxWait(ms(0))
              .autoExtend(false)
              .interruptOnLoss(true)
              .build();
      CompletableFuture<Lease> granted = new CompletableFuture<>();
      CompletableFuture<Boolean> flagAfter = new CompletableFuture<>();
      CompletableFuture<Throwable> seen = new CompletableFuture<>();
      Thread thread =
          new Thread(
              () -> {
                try {
                  rig.client()
                      .run(
                          request,
                          lease -> {
                            granted.complete(lease);
                            new CompletableFuture<>().get();
                          });
                } catch (Throwable failure) {
                  flagAfter.complete(Thread.currentThread().isInterrupted());
                  seen.complete(failure);
                }
              },
              "body");
      thread.start();
      granted.get(20, java.util.concurrent.TimeUnit.SECONDS);
      rig.time.advance(ms(1_000));
      assertThat(seen.get(20, java.util.concurrent.TimeUnit.SECONDS))
          .isInstanceOf(InterruptedException.class)
          .satisfies(
              failure ->
                  assertThat(failure.getSuppressed())
                      .hasAtLeastOneElementOfType(LeaseLostException.class));
      assertThat(flagAfter).isCompletedWithValue(false);
      thread.join(20_000);
    }
  }

  /** A thread has one flag for all who interrupt it. */
  @Nested
  class InterruptForTheLoss {
    @RegisterExtension final Rig rig = Rig.of(3);

    private final LockRequest request =
        LockRequest.builder(Rig.R)
            .ttl(ms(1_000))
            .maxWait(ms(0))
            .autoExtend(false)
            .interruptOnLoss(true)
            .build();

    @Test
    void isTakenBackWhenTheBodyDidNotNoticeIt() {
      assertThatThrownBy(() -> rig.client().run(request, lease -> rig.time.advance(ms(1_000))))
          .isInstanceOf(LeaseLostException.class);
      assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void keepsTheInterruptOfAnotherThatCameBefore() {
      assertThatThrownBy(
              () ->
                  rig.client()
                      .run(
                          request,
                          lease -> {
                            Thread.currentThread().interrupt();
                            rig.time.advance(ms(1_000));
                          }))
          .isInstanceOf(LeaseLostException.class);
      assertThat(Thread.interrupted()).as("somebody else's").isTrue();
    }

    @Test
    void keepsTheInterruptOfAnotherThatCameWhenTheBodyHadTakenOurs() {
      assertThatThrownBy(
              () ->
                  rig.client()
                      .run(
                          request,
                          lease -> {
                            rig.time.advance(ms(1_000));
                            try {
                              Thread.sleep(Long.MAX_VALUE);
                            } catch (InterruptedException ours) {
                              Thread.currentThread().interrupt(); // Another's.
                              throw ours;
                            }
                          }))
          .isInstanceOf(InterruptedException.class);
      assertThat(Thread.interrupted()).as("somebody else's").isTrue();
    }
  }

  @Nested
  class WallClockJumps {
    @RegisterExtension final Rig rig = Rig.of(3);

    @FaultRow(24)
    @ParameterizedTest
    @EnumSource
    void backThenNothingChanges(EntryPoint entryPoint) {
      LockCall call = entryPoint.call(rig.client(), request(10_000, false));
      List<LossReason> losses = lossesOf(call.lease());
      rig.time.jumpWallClock(Duration.ofHours(-1));
      assertThat(call.lease().remaining()).isEqualTo(ms(10_000 - 102));
      rig.time.advance(ms(9_897));
      assertThat(call.lease().isValid()).isTrue();
      rig.time.advance(ms(1));
      assertThat(call.lease().isValid()).isFalse();
      rig.time.runDue();
      assertThat(losses).containsExactly(LossReason.EXPIRED);
      assertThat(call.finish()).isPresent();
    }

    @FaultRow(24)
    @Test
    void backWhileItIsExtendedThenItGoesOn() {
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), request(3_000, true));
      rig.time.jumpWallClock(Duration.ofHours(-1));
      rig.time.advance(ms(60_000));
      assertThat(call.lease().isValid()).isTrue();
      assertThat(call.finish()).isEmpty();
    }

    @FaultRow(24)
    @ParameterizedTest
    @EnumSource
    void forwardThenItEndsEarlyAndAtOnce(EntryPoint entryPoint) {
      LockCall call = entryPoint.call(rig.client(), request(10_000, false));
      List<LossReason> losses = lossesOf(call.lease());
      rig.time.jumpWallClock(Duration.ofHours(1));
      assertThat(call.lease().isValid()).isFalse();
      rig.time.runDue();
      assertThat(losses).containsExactly(LossReason.PAUSE_DETECTED);
      assertThat(call.finish()).isPresent();
    }

    @FaultRow(24)
    @Test
    void forwardByLessThanTheRestThenTheRestIsShorter() {
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), request(10_000, false));
      rig.time.jumpWallClock(ms(5_000));
      assertThat(call.lease().remaining()).isEqualTo(ms(5_000 - 102));
      rig.time.advance(ms(4_898));
      assertThat(call.lease().isValid()).isFalse();
      assertThat(call.finish()).isPresent();
    }

    @Test
    void forwardByCenturiesThenItEndsToo() {
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), request(10_000, false));
      rig.time.jumpWallClock(Duration.ofDays(150 * 365));
      rig.time.jumpWallClock(Duration.ofDays(150 * 365));
      assertThat(call.lease().isValid()).isFalse();
      assertThat(call.finish()).isPresent();
    }
  }
}
