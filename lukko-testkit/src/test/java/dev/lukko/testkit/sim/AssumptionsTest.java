package dev.lukko.testkit.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.redlock.RedlockBuilder;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Takes an assumption of a promise away, and sees the promise broken: so the promise is really
 * watched, and the assumption is really needed.
 */
class AssumptionsTest {

  @BeforeAll
  static void quiet() {
    QuietLoggers.set();
  }

  private static Check firstBroken(double rateError, UnaryOperator<RedlockBuilder> settings) {
    return Simulation.builder()
        .seed(1)
        .histories(20_000)
        .rateError(rateError)
        .settings(settings)
        .build()
        .run()
        .failure()
        .orElseThrow()
        .check();
  }

  /** What breaks, and how often, in histories of one weather that are held for another. */
  private static Map<Check, Integer> broken(Weather real, Weather expected, int histories) {
    Map<Check, Integer> broken = new EnumMap<>(Check.class);
    int run = 0;
    for (long seed = 1; run < histories; seed++) {
      Plan plan = Planner.plan(seed, 0.0045, UnaryOperator.identity());
      if (plan.weather() == real) {
        run++;
        Violation violation = History.run(plan.expecting(expected), false).violation();
        if (violation != null) {
          broken.merge(violation.check(), 1, Integer::sum);
        }
      }
    }
    return broken;
  }

  @Test
  void twoHoldersAreValidWhenClocksRunFurtherApartThanTheDrift() {
    assertThat(firstBroken(0.02, UnaryOperator.identity())).isEqualTo(Check.M);
  }

  @Test
  void moreIsClaimedThanTheNodesKeepWhenThereIsNoDrift() {
    assertThat(firstBroken(0.0045, builder -> builder.driftFactor(0).driftBuffer(Duration.ZERO)))
        .isEqualTo(Check.F5);
  }

  @Test
  void aForgetfulNodeVotesTooEarlyWhenThereIsNoQuarantine() {
    assertThat(firstBroken(0.0045, builder -> builder.quarantine(false)))
        .isEqualTo(Check.QUARANTINE);
  }

  /** Rows 17 and 18 of the fault scenarios: a breach that must be seen, and is not a mistake. */
  @Test
  void twoHoldersAreValidWhenTheClocksOfNodesJump() {
    assertThat(broken(Weather.LYING, Weather.STORMY, 2_000)).containsKey(Check.M);
  }

  /** The same histories, for what is promised in them. */
  @Test
  void tokensAndTheResourceAreRightThoughTheClocksOfNodesJump() {
    assertThat(broken(Weather.LYING, Weather.LYING, 2_000)).isEmpty();
  }

  @Test
  void somethingFailsInTheCalmWhenThereAreFaults() {
    assertThat(broken(Weather.STORMY, Weather.CALM, 500)).containsKey(Check.CALM);
  }
}
