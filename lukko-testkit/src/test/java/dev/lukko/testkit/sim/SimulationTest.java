package dev.lukko.testkit.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.lukko.testkit.rows.FaultRow;
import dev.lukko.testkit.sim.SimulationReport.Failure;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * {@code -Dsim.histories=} sets how many histories are run, {@code -Dsim.seed=} from which seed,
 * and {@code -Dsim.threads=} in how many threads.
 */
class SimulationTest {
  /** One for all repetitions: a history that failed does not pass when the test is run again. */
  private static final long SEED = Long.getLong("sim.seed", new SecureRandom().nextLong() >>> 16);

  /** A lock that is safe because it is never granted would pass every other check. */
  private static final double FEWEST_GRANTS_PER_HISTORY = 5.0;

  @BeforeAll
  static void quiet() {
    QuietLoggers.set();
  }

  @FaultRow({16, 22, 25})
  @Test
  @Timeout(value = 25, unit = TimeUnit.MINUTES)
  void shouldKeepEveryPromiseInEveryHistory() {
    SimulationReport report =
        Simulation.builder()
            .seed(SEED)
            .histories(Long.getLong("sim.histories", 20_000))
            .threads(Integer.getInteger("sim.threads", Runtime.getRuntime().availableProcessors()))
            .build()
            .run();

    System.out.println(report.describe());
    report.throwIfFailed();
    if (report.histories() >= 10_000) {
      assertThat(report.grantsPerHistory()).isGreaterThan(FEWEST_GRANTS_PER_HISTORY);
    }
  }

  /** Seeds that have failed before. What was wrong stands beside each; none is ever removed. */
  @ParameterizedTest(name = "{0}")
  @CsvSource({
    "5647383352121, a process that woke up in the moment of the check had no time for its signal",
    "179539154904248, replies came through a connection that was broken already, and a release was"
        + " taken for one behind a late repair",
    "62551167910822, two ends of one change of the set wrote different floors, and no majority had"
        + " either of them",
    "204318129762290, a change of the set began while a member that had forgotten got its place back",
    "243107553259525, a change of the set took a member that had forgotten for a new node",
    "169635816727250, the model of a node dropped what had ended at a request that it did not look at",
    "78493602830948, of two changes with different aims one overwrote the new node of the other",
    "111782332595741, a server that had forgotten counted as a member that was there, since its"
        + " address had led to that one for a while: with another one a new deployment",
    "20262568, more nodes than a majority can spare waited for a reading while the set changed",
    "20291093, a member that had slept through a change of the set was taken for the fleet, since"
        + " another one forgot at its end",
    "20323540, all nodes forgot while they were made a fleet, had two then, and refused new clients",
    "236073845297538, a server that was seen through another address kept the vote of its own one,"
        + " which was silent",
    "44852818098231, a server that restarted during a look was asked by two addresses and taken"
        + " for two: a new deployment",
    "734220451033, readers of two nodes overtook each other's confirmations until their time was"
        + " over",
    "183175869480404, a shorter extension that was stuck on its way to a server by one address cut"
        + " what the newer one by another address had been promised",
  })
  void shouldKeepEveryPromiseInHistoriesThatHaveFailedBefore(long seed, String fault) {
    Simulation.builder().seed(seed).build().run().throwIfFailed();
  }

  @Test
  void shouldRepeatEveryEventWhenTheSeedIsTheSame() {
    Simulation simulation = Simulation.builder().seed(7).histories(200).build();
    SimulationReport first = simulation.run();

    Simulation.builder().seed(99_000).histories(100).build().run();
    SimulationReport again = simulation.run();
    SimulationReport inThreads =
        Simulation.builder().seed(7).histories(200).threads(3).build().run();

    assertThat(again.logHash()).isEqualTo(first.logHash());
    assertThat(inThreads.logHash()).isEqualTo(first.logHash());
    assertThat(again.grants()).isEqualTo(first.grants());
  }

  @Test
  void shouldHaveOtherEventsWhenTheSeedIsAnother() {
    assertThat(Simulation.builder().seed(7).histories(20).build().run().logHash())
        .isNotEqualTo(Simulation.builder().seed(8).histories(20).build().run().logHash());
  }

  @FaultRow(23)
  @Test
  void shouldFindTwoValidLeasesWhenClocksAreWorseThanTheDrift() {
    Failure failure =
        Simulation.builder()
            .seed(1)
            .histories(20_000)
            .rateError(0.02)
            .build()
            .run()
            .failure()
            .orElseThrow();

    assertThat(failure.check()).isEqualTo(Check.M);
    assertThat(failure.steps()).isNotEmpty();
    assertThat(failure.describe()).contains("again by seed " + failure.seed());
  }

  @Test
  void shouldFailTheSameWayWhenAFailureIsRepeatedByItsSeed() {
    Simulation careless =
        Simulation.builder()
            .seed(1)
            .histories(20_000)
            .settings(builder -> builder.driftFactor(0).driftBuffer(Duration.ZERO))
            .build();
    Failure found = careless.run().failure().orElseThrow();

    Failure again =
        Simulation.builder()
            .seed(found.seed())
            .settings(builder -> builder.driftFactor(0).driftBuffer(Duration.ZERO))
            .build()
            .run()
            .failure()
            .orElseThrow();

    assertThat(again.check()).isEqualTo(found.check()).isEqualTo(Check.F5);
    assertThat(again.steps()).isEqualTo(found.steps());
    assertThat(again.events()).isEqualTo(found.events());
  }

  @Test
  void shouldRefuseSettingsOutOfRange() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Simulation.builder().histories(0))
        .withMessage("histories is 0; it must be at least 1");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Simulation.builder().threads(0))
        .withMessage("threads is 0; it must be between 1 and 1024");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Simulation.builder().rateError(0.6))
        .withMessage("rateError is 0.6; it must be between 0 and 0.5");
  }
}
