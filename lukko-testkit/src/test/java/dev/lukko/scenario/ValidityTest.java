package dev.lukko.scenario;

import static dev.lukko.scenario.Rig.ms;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.LockEvent;
import dev.lukko.LockRequest;
import dev.lukko.ValidityExhaustedException;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import dev.lukko.testkit.EntryPoint;
import dev.lukko.testkit.FaultyNode.Fault;
import dev.lukko.testkit.LockCall;
import dev.lukko.testkit.LockCall.Outcome;
import dev.lukko.testkit.SoleFleet;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** A1 and A2: from when validity counts, and when too little of it is left. */
class ValidityTest {

  @Nested
  class LockBusyForLongerThanTheTtl {
    @RegisterExtension final Rig rig = Rig.of(3);
    final List<LockEvent> events = new CopyOnWriteArrayList<>();

    @ParameterizedTest
    @EnumSource
    void validityCountsFromTheWinningRoundWhenTheHolderExpires(EntryPoint entryPoint) {
      rig.main(builder -> builder.listener(events::add));
      for (int i = 1; i <= 3; i++) {
        rig.holdForeign(i, ms(1_200));
      }
      LockCall call = entryPoint.call(rig.client(), Rig.request(ms(1_000), ms(5_000)));
      assertThat(call.isWaiting()).isTrue();

      rig.time.advance(ms(1_202));

      assertValidForTheWholeTtl(call);
    }

    @ParameterizedTest
    @EnumSource
    void validityCountsFromTheWinningRoundWhenTheHolderReleases(EntryPoint entryPoint) {
      rig.main(builder -> builder.listener(events::add));
      for (int i = 1; i <= 3; i++) {
        rig.holdForeign(i, ms(60_000));
      }
      LockCall call = entryPoint.call(rig.client(), Rig.request(ms(1_000), ms(5_000)));
      rig.time.advance(ms(1_200));
      assertThat(call.isWaiting()).isTrue();

      rig.releaseForeign();
      rig.time.runDue();

      assertValidForTheWholeTtl(call);
    }

    private void assertValidForTheWholeTtl(LockCall call) {
      assertThat(call.outcome()).isEqualTo(Outcome.GRANTED);
      assertThat(call.lease().isValid()).isTrue();
      assertThat(events)
          .filteredOn(LockEvent.Acquired.class::isInstance)
          .singleElement()
          .extracting(event -> ((LockEvent.Acquired) event).validity())
          .isEqualTo(ms(1_000 - 12));
      assertThat(call.finish()).isEmpty();
    }
  }

  @Nested
  class NodesAnswerLate {
    @RegisterExtension final Rig rig = Rig.of(3);

    @ParameterizedTest
    @EnumSource
    void grantThatComesAfterTheTtlLosesWithTheNumbersAndNothingIsLeft(EntryPoint entryPoint) {
      LockCall call = answeredAfter(entryPoint, ms(200), ms(400), Duration.ZERO);

      assertThat(call.outcome()).isEqualTo(Outcome.EXHAUSTED);
      assertThat(call.failure())
          .isInstanceOf(ValidityExhaustedException.class)
          .hasMessageContaining("elapsed 400 ms, drift 4 ms, ttl 200 ms")
          .hasMessageContaining("n1: granted")
          .hasMessageContaining("n2: granted");
      assertThat(rig.held()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
      "195, 0, GRANTED",
      "196, 0, EXHAUSTED",
      "197, 0, EXHAUSTED",
      "145, 50, GRANTED",
      "146, 50, EXHAUSTED"
    })
    void lostExactlyWhenNoMoreThanTheLeastValidityIsLeft(
        long elapsed, long minValidity, Outcome expected) {
      LockCall call =
          answeredAfter(EntryPoint.ACQUIRE_ASYNC, ms(200), ms(elapsed), ms(minValidity));

      assertThat(call.outcome()).isEqualTo(expected);
      assertThat(rig.held()).hasSize(expected == Outcome.GRANTED ? 3 : 0);
    }

    @ParameterizedTest
    @CsvSource({"195, GRANTED", "196, EXHAUSTED"})
    void timeOfTheSecondQuestionForTheTokenCountsToo(long elapsed, Outcome expected) {
      rig.main(builder -> builder.nodeTimeout(ms(1_000)));
      SoleFleet.admittedGrant(
              rig.store(1),
              new GrantRequest(
                  LockEntry.exclusive(List.of(Rig.R), "earlier"), 1, rig.time.wallMicros() + 50))
          .toCompletableFuture()
          .join();
      rig.time.advance(ms(1));
      SoleFleet.admittedGrant(
              rig.store(1),
              new GrantRequest(
                  LockEntry.exclusive(List.of(Rig.R), "earlier"),
                  1,
                  rig.time.wallMicros() + 5_000_000))
          .toCompletableFuture()
          .join();
      rig.time.advance(ms(1));
      rig.node(2).fault(Fault.DOWN); // n1 and n3 must agree, and their counters differ.
      LockCall call = holdingSecondQuestion();

      rig.time.advance(ms(elapsed));
      rig.node(1).heal();
      rig.node(3).heal();

      assertThat(call.outcome()).isEqualTo(expected);
    }

    private LockCall holdingSecondQuestion() {
      rig.node(1).fault(Fault.HOLD_REPLIES);
      rig.node(3).fault(Fault.HOLD_REPLIES);
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), Rig.request(ms(200), ms(0)));
      rig.node(1).releaseHeld();
      rig.node(3).releaseHeld();
      assertThat(call.isWaiting()).as("waits for the confirmation").isTrue();
      return call;
    }

    @Test
    void callThatMayWaitTriesAgainAndWinsWhenTheNodesAreFastAgain() {
      LockRequest request = Rig.request(ms(200), ms(5_000));
      rig.main(builder -> builder.nodeTimeout(ms(1_000)));
      rig.main().fault(Fault.HOLD_REPLIES);
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), request);
      rig.time.advance(ms(400));
      rig.main().heal();
      assertThat(call.isWaiting()).isTrue();

      rig.time.advance(ms(401));

      assertThat(call.outcome()).isEqualTo(Outcome.GRANTED);
    }

    private LockCall answeredAfter(
        EntryPoint entryPoint, Duration ttl, Duration elapsed, Duration minValidity) {
      rig.main(builder -> builder.nodeTimeout(ms(1_000)).minValidity(minValidity));
      rig.main().fault(Fault.HOLD_REPLIES);
      LockRequest request =
          LockRequest.builder(Rig.R).ttl(ttl).maxWait(ms(0)).autoExtend(false).build();
      LockCall call = entryPoint.call(rig.client(), request);
      rig.time.advance(elapsed);
      rig.main().heal();
      return call;
    }
  }
}
