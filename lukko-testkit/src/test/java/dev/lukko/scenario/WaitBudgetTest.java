package dev.lukko.scenario;

import static dev.lukko.scenario.Rig.ms;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lukko.LockBusyException;
import dev.lukko.LockNotAcquiredException;
import dev.lukko.LockRequest;
import dev.lukko.QuorumUnavailableException;
import dev.lukko.redlock.Redlock;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import dev.lukko.testkit.EntryPoint;
import dev.lukko.testkit.FaultyNode;
import dev.lukko.testkit.FaultyNode.Fault;
import dev.lukko.testkit.LockCall;
import dev.lukko.testkit.LockCall.Outcome;
import dev.lukko.testkit.SoleFleet;
import java.util.List;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A6 and A8: how long, and how often, a call tries. */
class WaitBudgetTest {

  @Nested
  class Budget {
    @RegisterExtension final Rig rig = Rig.of(3);

    @ParameterizedTest
    @EnumSource
    void ofZeroOnFreeLockWins(EntryPoint entryPoint) {
      LockCall call = entryPoint.call(rig.client(), Rig.request(ms(10_000), ms(0)));
      assertThat(call.outcome()).isEqualTo(Outcome.GRANTED);
      assertThat(call.finish()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void ofZeroOnHeldLockMakesOneRound(EntryPoint entryPoint) {
      holdAll(rig);
      int before = rig.main().requests();
      LockCall call = entryPoint.call(rig.client(), Rig.request(ms(10_000), ms(0)));
      assertThat(call.outcome()).isEqualTo(Outcome.BUSY);
      assertThat(rig.main().requests() - before).as("grants and releases").isEqualTo(6);
    }

    @ParameterizedTest
    @EnumSource
    void isTheTimeAtWhichItGivesUpAndNotBefore(EntryPoint entryPoint) {
      holdAll(rig);
      LockCall call = entryPoint.call(rig.client(), Rig.request(ms(10_000), ms(10_000)));
      rig.time.advance(ms(9_999));
      assertThat(call.isWaiting()).isTrue();
      rig.time.advance(ms(1));
      assertThat(call.outcome()).isEqualTo(Outcome.BUSY);
    }

    @ParameterizedTest
    @EnumSource
    void wonByTheLastRoundAtTheDeadline(EntryPoint entryPoint) {
      rig.main(builder -> builder.retryDelay(ms(60_000)));
      holdAll(rig);
      rig.main().nodes().forEach(node -> node.fault(Fault.NONE));
      LockCall call = entryPoint.call(rig.client(), Rig.request(ms(10_000), ms(500)));
      rig.time.advance(ms(499));
      rig.stores.forEach(store -> store.forget()); // No hint comes from this.
      rig.time.advance(ms(1));
      assertThat(call.outcome()).isEqualTo(Outcome.GRANTED);
    }

    @ParameterizedTest
    @EnumSource
    void isOverrunByNoMoreThanOneNodeTimeoutWhenTheTokenNeedsASecondQuestion(
        EntryPoint entryPoint) {
      LockEntry former = new LockEntry(List.of(Rig.R), "former", false);
      SoleFleet.admittedGrant(
          rig.store(1), new GrantRequest(former, 1_000, GrantRequest.MAX_COUNTER / 4, null));
      rig.store(1).release(former);
      rig.node(1).fault(Fault.HOLD_REPLIES);
      rig.node(2).fault(Fault.HOLD_REPLIES);
      rig.node(3).fault(Fault.DOWN);
      LockCall call = entryPoint.call(rig.client(), Rig.request(ms(10_000), ms(0)));
      rig.time.advance(ms(400));
      rig.main().nodes().forEach(FaultyNode::releaseHeld); // Grants; the second question hangs.
      rig.time.advance(ms(99));
      assertThat(call.isWaiting()).isTrue();

      rig.time.advance(ms(2));

      assertThat(call.outcome()).isEqualTo(Outcome.UNREACHABLE);
    }

    @ParameterizedTest
    @EnumSource
    void isOverrunByNoMoreThanOneNodeTimeoutWhenNodesHangAtTheDeadline(EntryPoint entryPoint) {
      holdAll(rig);
      LockCall call = entryPoint.call(rig.client(), Rig.request(ms(10_000), ms(10_000)));
      rig.time.advance(ms(9_999));
      rig.main().fault(Fault.HOLD_REQUESTS);
      rig.time.advance(ms(501));
      assertThat(call.outcome()).isEqualTo(Outcome.UNREACHABLE);
    }

    @ParameterizedTest
    @EnumSource
    void isNotUsedUpWhenAllNodesAreDown(EntryPoint entryPoint) {
      rig.main().fault(Fault.DOWN);
      LockCall call = entryPoint.call(rig.client(), Rig.request(ms(10_000), ms(10_000)));
      assertThat(call.outcome()).isEqualTo(Outcome.UNREACHABLE);
    }

    @ParameterizedTest
    @EnumSource
    void isUsedWhenNodesAreSilentAndNoneRefuses(EntryPoint entryPoint) {
      rig.main().fault(Fault.HOLD_REQUESTS);
      LockCall call = entryPoint.call(rig.client(), Rig.request(ms(10_000), ms(10_000)));
      rig.time.advance(ms(5_000));
      assertThat(call.isWaiting()).isTrue();
      rig.main().heal();
      rig.time.advance(ms(1_000));
      assertThat(call.outcome()).isEqualTo(Outcome.GRANTED);
      assertThat(call.finish()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void endsWhenNodesAreSilentToTheEnd(EntryPoint entryPoint) {
      rig.main().fault(Fault.HOLD_REQUESTS);
      LockCall call = entryPoint.call(rig.client(), Rig.request(ms(10_000), ms(10_000)));
      rig.time.advance(ms(9_999));
      assertThat(call.isWaiting()).isTrue();
      rig.time.advance(ms(502));
      assertThat(call.outcome()).isEqualTo(Outcome.UNREACHABLE);
      rig.main().heal();
    }

    @ParameterizedTest
    @EnumSource
    void isUsedWhenOneNodeRefusesTheConnectionAndTheOthersAreSilent(EntryPoint entryPoint) {
      rig.main().fault(Fault.HOLD_REQUESTS);
      rig.node(1).fault(Fault.DOWN);
      LockCall call = entryPoint.call(rig.client(), Rig.request(ms(10_000), ms(10_000)));
      rig.time.advance(ms(5_000));
      assertThat(call.isWaiting()).isTrue();
      rig.node(2).heal();
      rig.node(3).heal();
      rig.time.advance(ms(1_000));
      assertThat(call.outcome()).isEqualTo(Outcome.GRANTED);
    }

    @ParameterizedTest
    @EnumSource
    void isNotUsedUpWhenAMajorityRefusesTheConnectionAndOneNodeIsSilent(EntryPoint entryPoint) {
      rig.main().fault(Fault.DOWN);
      rig.node(1).fault(Fault.HOLD_REQUESTS);
      LockCall call = entryPoint.call(rig.client(), Rig.request(ms(10_000), ms(10_000)));
      assertThat(call.outcome()).isEqualTo(Outcome.UNREACHABLE);
      rig.main().heal();
    }

    @ParameterizedTest
    @EnumSource
    void isUsedWhileConnectionsAreBeingMade(EntryPoint entryPoint) {
      rig.main().fault(Fault.CONNECTING);
      LockCall call = entryPoint.call(rig.client(), Rig.request(ms(10_000), ms(10_000)));
      assertThat(call.isWaiting()).isTrue();
      rig.main().heal();
      rig.time.advance(ms(400));
      assertThat(call.outcome()).isEqualTo(Outcome.GRANTED);
    }

    @ParameterizedTest
    @EnumSource
    void isNotUsedUpWhenNodesGoDownDuringTheWait(EntryPoint entryPoint) {
      holdAll(rig);
      LockCall call = entryPoint.call(rig.client(), Rig.request(ms(10_000), ms(60_000)));
      rig.time.advance(ms(5_000));
      rig.main().fault(Fault.DOWN);
      rig.time.advance(ms(1_500));
      assertThat(call.outcome()).isEqualTo(Outcome.UNREACHABLE);
    }

    @ParameterizedTest
    @EnumSource
    void isGoneOnWithAfterOneRoundInWhichAllNodesWereGone(EntryPoint entryPoint) {
      holdAll(rig);
      LockCall call = entryPoint.call(rig.client(), Rig.request(ms(10_000), ms(60_000)));
      rig.main().fault(Fault.DOWN);
      int before = rig.node(1).requests();
      while (rig.node(1).requests() == before) {
        rig.time.advance(ms(10));
      }
      assertThat(call.isWaiting()).isTrue();
      rig.main().heal();
      for (int i = 1; i <= 3; i++) {
        rig.store(i).forget();
      }

      rig.time.advance(ms(400));

      assertThat(call.outcome()).isEqualTo(Outcome.GRANTED);
      assertThat(call.finish()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void isUsedForMissingNodesOnDemandAndWonWhenTheyComeBack(EntryPoint entryPoint) {
      rig.main().fault(Fault.DOWN);
      LockRequest request =
          LockRequest.builder(Rig.R)
              .ttl(ms(10_000))
              .maxWait(ms(10_000))
              .waitForQuorum(true)
              .build();
      LockCall call = entryPoint.call(rig.client(), request);
      rig.time.advance(ms(5_000));
      assertThat(call.isWaiting()).isTrue();
      rig.main().heal();
      rig.time.advance(ms(400));
      assertThat(call.outcome()).isEqualTo(Outcome.GRANTED);
    }

    @ParameterizedTest
    @EnumSource
    void endsForMissingNodesOnDemandToo(EntryPoint entryPoint) {
      rig.main().fault(Fault.DOWN);
      LockRequest request =
          LockRequest.builder(Rig.R)
              .ttl(ms(10_000))
              .maxWait(ms(10_000))
              .waitForQuorum(true)
              .build();
      LockCall call = entryPoint.call(rig.client(), request);
      rig.time.advance(ms(9_999));
      assertThat(call.isWaiting()).isTrue();
      rig.time.advance(ms(1));
      assertThat(call.outcome()).isEqualTo(Outcome.UNREACHABLE);
      assertThat(((LockNotAcquiredException) call.failure()).waitExhausted()).isTrue();
    }

    @Test
    void withoutEndWaitsForYears() {
      holdAll(rig);
      LockRequest request = Rig.request(ms(10_000), LockRequest.FOREVER);
      rig.main(builder -> builder.retryDelay(ms(60_000)));
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), request);
      for (int day = 0; day < 3; day++) {
        rig.time.pauseProcess(java.time.Duration.ofDays(365));
        for (int i = 1; i <= 3; i++) {
          rig.holdForeign(i, ms(600_000));
        }
        rig.time.runDue();
        assertThat(call.isWaiting()).isTrue();
      }
      rig.releaseForeign();
      rig.time.advance(ms(2));
      assertThat(call.outcome()).isEqualTo(Outcome.GRANTED);
    }

    @Test
    void waitersOfOneClientShareTheRoundsOfOne() {
      holdAll(rig);
      int before = rig.main().requests();
      for (int i = 0; i < 100; i++) {
        EntryPoint.ACQUIRE_ASYNC.call(rig.client(), Rig.request(ms(10_000), ms(60_000)));
      }
      rig.time.advance(ms(10_000));
      // A round of grants and releases in a second, and a few for the beginning; for all hundred.
      assertThat(rig.main().requests() - before).isLessThan(6 * 15);
    }
  }

  @Nested
  class Retries {
    @RegisterExtension final Rig rig = Rig.plain(3);

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3, 10})
    void areMadeExactlyAsOftenAsSetOnTopOfTheFirstRound(int retries) {
      rig.main(builder -> builder.retryCount(retries));
      holdAll(rig);
      LockCall call = EntryPoint.ACQUIRE.call(rig.client(), Rig.request(ms(10_000)));
      rig.time.advance(ms(400L * retries));
      assertThat(call.failure())
          .isInstanceOf(LockBusyException.class)
          .extracting(failure -> ((LockBusyException) failure).rounds())
          .isEqualTo(1 + retries);
    }

    @Test
    void areMadeWhenNodesAreSilentToo() {
      rig.main(builder -> builder.retryCount(3).retryJitter(ms(0)));
      rig.main().fault(Fault.HOLD_REQUESTS);
      LockCall call = EntryPoint.ACQUIRE.call(rig.client(), Rig.request(ms(10_000)));
      rig.time.advance(ms(3_000));
      rig.main().heal();
      assertThat(call.failure())
          .isInstanceOf(QuorumUnavailableException.class)
          .extracting(failure -> ((QuorumUnavailableException) failure).rounds())
          .isEqualTo(4);
    }

    @Test
    void ofTryAcquireAreNone() {
      holdAll(rig);
      LockCall call = EntryPoint.TRY_ACQUIRE.call(rig.client(), Rig.request(ms(10_000)));
      assertThat(call.outcome()).isEqualTo(Outcome.BUSY);
    }

    @Test
    void withoutEndGoOnUntilTheLockIsFree() {
      rig.main(builder -> builder.retryForever());
      holdAll(rig);
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), Rig.request(ms(10_000)));
      rig.time.advance(ms(59_000));
      assertThat(call.isWaiting()).isTrue();
      rig.time.advance(ms(1_001));
      assertThat(call.outcome()).isEqualTo(Outcome.GRANTED);
    }

    @Test
    void negativeNumberIsRefusedByItsName() {
      assertThatThrownBy(() -> Redlock.builder().retryCount(-1))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("retryCount is -1")
          .hasMessageContaining("must not be negative");
    }

    @Test
    void withoutAnyDelayDoNotSpin() {
      rig.main(builder -> builder.retryCount(5).retryDelay(ms(0)).retryJitter(ms(0)));
      holdAll(rig);
      LockCall call = EntryPoint.ACQUIRE.call(rig.client(), Rig.request(ms(10_000)));
      rig.time.runDue();
      assertThat(((LockBusyException) call.failure()).rounds()).isEqualTo(6);
    }
  }

  private static void holdAll(Rig rig) {
    for (int i = 1; i <= 3; i++) {
      rig.holdForeign(i, ms(60_000));
    }
  }
}
