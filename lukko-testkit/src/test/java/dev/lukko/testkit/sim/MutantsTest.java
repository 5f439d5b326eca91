package dev.lukko.testkit.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.testkit.sim.MutantLab.Verdict;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Whether the simulator finds each deliberate bug. {@code mvn -B verify -Pci-mutants} runs this,
 * with {@code -Dmutants.write=true} it writes the table of the docs as well, and with {@code
 * -Dmutants.only=REGEX} it tries some of them.
 */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class MutantsTest {
  private static final long BUDGET = Long.getLong("mutants.histories", 20_000);
  private static final String ONLY = System.getProperty("mutants.only", ".*");
  private static final List<Verdict> VERDICTS = new ArrayList<>();

  @TempDir Path scratch;

  static List<Mutant> mutants() {
    return Mutants.all().stream().filter(mutant -> mutant.name().matches(ONLY)).toList();
  }

  @BeforeAll
  static void quiet() {
    QuietLoggers.set();
  }

  @AfterAll
  static void writeTable() throws IOException {
    if (Boolean.getBoolean("mutants.write") && !VERDICTS.isEmpty()) {
      MutantsPage.write(VERDICTS);
    }
  }

  @Tag("mutants")
  @ParameterizedTest
  @MethodSource("mutants")
  void shouldBeKilledByTheSimulator(Mutant mutant) throws Exception {
    Verdict verdict = MutantLab.judge(mutant, scratch, BUDGET);

    VERDICTS.add(verdict);
    System.out.printf(
        "mutant \"%s\": %s%n",
        mutant, verdict.survived() ? "SURVIVED" : verdict.histories() + ", " + verdict.killer());
    assertThat(verdict.survived()).as("survived %d histories", BUDGET).isFalse();
  }

  /** Otherwise a mutant could die of something else. */
  @Tag("mutants")
  @Test
  void shouldFindNothingInTheSameHistoriesWithoutAMutant() {
    HistoryProbe probe = new HistoryProbe();

    assertThat(probe.applyAsLong(BUDGET)).as(probe::toString).isZero();
  }

  @Test
  void shouldMatchTheSourceExactlyOnceAndStandInTheDocs() throws Exception {
    String page = MutantsPage.read();

    for (Mutant mutant : Mutants.all()) {
      for (Mutant part : mutant.parts()) {
        part.appliedTo(MutantLab.sourceOf(part));
      }
      assertThat(page).contains("| " + mutant.name() + " |").doesNotContain("survived");
    }
  }
}
