package dev.lukko.bench.soak;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.EnumSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A short run passes, and the count sees what is lost when nothing guards the set. */
class SoakTest {
  private static SoakReport run(int millis, SoakMode mode, EnumSet<FaultKind> faults)
      throws InterruptedException {
    SoakPlan plan = new SoakPlan(Duration.ofMillis(millis), 1, 3, mode, faults, 2);
    return new Soak(plan, System.out).run();
  }

  @Test
  void nothingIsLostOrDoubledUnderFaults() throws InterruptedException {
    SoakReport report =
        run(
            4_000,
            SoakMode.FENCED,
            EnumSet.complementOf(EnumSet.of(FaultKind.SERVER_CLOCK_JUMPED)));

    assertThat(report.problems()).isEmpty();
    assertThat(report.verdict().lost()).isEmpty();
    assertThat(report.verdict().duplicated()).isEmpty();
    assertThat(report.passed()).isTrue();
    assertThat(report.journal().acknowledgedCount()).isPositive();
    assertThat(report.faults()).isNotEmpty();
  }

  @Test
  void additionsAreLostWithoutLock() throws InterruptedException {
    SoakReport report = run(1_000, SoakMode.WITHOUT_LOCK, EnumSet.noneOf(FaultKind.class));

    assertThat(report.verdict().lost()).isNotEmpty();
    assertThat(report.passed()).isFalse();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--minutes     | 0    | --minutes is '0'; it must be a number from 0.01 to 10080",
        "--minutes     | x    | --minutes is 'x'; it must be a number from 0.01 to 10080",
        "--seed        | 1.5  | --seed is '1.5'; it must be a whole number of 64 bits",
        "--clients     | 1    | --clients is '1'; it must be a whole number from 2 to 16",
        "--may-forget  | 6    | --may-forget is '6'; it must be a whole number from 0 to 5",
        "--faults      | rain | --faults has 'rain'; it must name kinds of"
      })
  void badOptionIsRefusedWithFieldValueAndRule(String option, String value, String message) {
    ByteArrayOutputStream err = new ByteArrayOutputStream();

    int code = execute(err, option, value);

    assertThat(code).isEqualTo(64);
    assertThat(err.toString(StandardCharsets.UTF_8)).startsWith(message);
  }

  private static int execute(ByteArrayOutputStream err, String... arguments) {
    return SoakCommand.execute(
        new PrintStream(OutputStream.nullOutputStream(), true, StandardCharsets.UTF_8),
        new PrintStream(err, true, StandardCharsets.UTF_8),
        arguments);
  }
}
