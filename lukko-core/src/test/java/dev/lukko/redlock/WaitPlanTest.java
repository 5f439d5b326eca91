package dev.lukko.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.Holder;
import dev.lukko.spi.GrantReply.Refused;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class WaitPlanTest {
  private static final long BEAT = TimeUnit.MILLISECONDS.toNanos(300);
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  private static Refused heldFor(Duration remaining) {
    return new Refused(1, new Holder("somebody", Optional.empty(), Optional.of(remaining)));
  }

  private static Refused heldForUnknownTime() {
    return new Refused(1, new Holder("somebody", Optional.empty(), Optional.empty()));
  }

  @Test
  void isTheBeatWhenNobodyWillWakeTheWaiter() {
    assertThat(WaitPlan.untilNextRoundNanos(BEAT, false, 1, List.of(heldForUnknownTime())))
        .isEqualTo(BEAT);
  }

  @Test
  void isASecondWhenAQuorumRefusedAndWillWakeTheWaiter() {
    List<Refused> refusals = List.of(heldForUnknownTime(), heldForUnknownTime());
    assertThat(WaitPlan.untilNextRoundNanos(BEAT, true, 2, refusals)).isEqualTo(SECOND);
    assertThat(WaitPlan.untilNextRoundNanos(3 * SECOND, true, 2, refusals)).isEqualTo(3 * SECOND);
  }

  @Test
  void isTheBeatWhenTheVotesWereSplit() {
    assertThat(WaitPlan.untilNextRoundNanos(BEAT, true, 2, List.of(heldForUnknownTime())))
        .isEqualTo(BEAT);
    assertThat(WaitPlan.untilNextRoundNanos(BEAT, true, 2, List.of())).isEqualTo(BEAT);
  }

  @Test
  void endsJustAfterTheShortestRemainingTime() {
    List<Refused> refusals =
        List.of(heldFor(Duration.ofMillis(90)), heldFor(Duration.ofMillis(40)));
    assertThat(WaitPlan.untilNextRoundNanos(BEAT, true, 2, refusals))
        .isEqualTo(TimeUnit.MILLISECONDS.toNanos(41));
  }

  @Test
  void isNeverNothingNorNegative() {
    for (Duration remaining : List.of(Duration.ZERO, Duration.ofSeconds(-5))) {
      assertThat(WaitPlan.untilNextRoundNanos(BEAT, false, 1, List.of(heldFor(remaining))))
          .isEqualTo(TimeUnit.MILLISECONDS.toNanos(1));
    }
  }

  @Test
  void remainingTimeOfAgesIsNoFault() {
    for (Duration remaining :
        List.of(
            Duration.ofMillis(Long.MAX_VALUE),
            Duration.ofSeconds(Long.MAX_VALUE),
            Duration.ofNanos(Long.MAX_VALUE))) {
      assertThat(WaitPlan.untilNextRoundNanos(BEAT, false, 1, List.of(heldFor(remaining))))
          .isEqualTo(BEAT);
    }
  }

  @Test
  void holdsBackAfterSplitsOnlyAndLongerWithEach() {
    long jitter = TimeUnit.MILLISECONDS.toNanos(200);
    assertThat(WaitPlan.holdBackNanos(0, jitter, 0, 0.99)).isZero();
    assertThat(WaitPlan.holdBackNanos(1, jitter, 0, 0.5)).isEqualTo(1_000_000);
    assertThat(WaitPlan.holdBackNanos(2, jitter, 0, 0.5)).isEqualTo(2_000_000);
    assertThat(WaitPlan.holdBackNanos(3, jitter, 0, 0)).isZero();
    for (int splits = 1; splits < 100; splits++) {
      assertThat(WaitPlan.holdBackNanos(splits, jitter, 0, 0.999)).isBetween(1L, jitter - 1);
    }
    assertThat(WaitPlan.holdBackNanos(5, 0, 0, 0.5)).isZero();
    assertThat(WaitPlan.holdBackNanos(Integer.MAX_VALUE, jitter, 0, 0.5)).isEqualTo(jitter / 2);
  }

  @Test
  void holdsBackOneStepForEachClientThatGoesFirst() {
    long jitter = 200_000_000;
    assertThat(WaitPlan.holdBackNanos(0, jitter, 1, 0.5)).isEqualTo(250_000);
    assertThat(WaitPlan.holdBackNanos(0, jitter, 3, 0.5)).isEqualTo(750_000);
    assertThat(WaitPlan.holdBackNanos(0, 0, 3, 0.5)).isZero();
    assertThat(WaitPlan.holdBackNanos(0, jitter, 10_000, 0.5)).isEqualTo(jitter);
    assertThat(WaitPlan.holdBackNanos(3, jitter, 3, 0.5)).isEqualTo(4_000_000);
  }
}
