package dev.lukko.spec;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What would break the protocol is seen to break it: a checker that finds nothing proves little.
 */
class ShortCutTest {
  @ParameterizedTest
  @MethodSource("shortCuts")
  @Timeout(value = 6, unit = TimeUnit.MINUTES)
  void shortCutIsRefutedAsDocumented(String configuration) {
    assertRefutedAsDocumented(configuration);
  }

  static List<String> shortCuts() {
    return Configurations.in("broken");
  }

  @Tag("ci-model")
  @ParameterizedTest
  @MethodSource("deepShortCuts")
  @Timeout(value = 11, unit = TimeUnit.MINUTES)
  void shortCutIsRefutedAsDocumentedByALongerSearch(String configuration) {
    assertRefutedAsDocumented(configuration);
  }

  static List<String> deepShortCuts() {
    return Configurations.in("broken/deep");
  }

  private static void assertRefutedAsDocumented(String configuration) {
    TlcResult result = Tlc.explain(configuration, Duration.ofMinutes(10));

    assertThat(result.violated())
        .as(result.output())
        .contains(Configurations.onlyInvariantOf(configuration));
    String counterexample = Counterexample.toMarkdown(result);
    if (Boolean.getBoolean("lukko.spec.write")) {
      ProofsPage.write(configuration, counterexample);
    }
    assertThat(ProofsPage.counterexampleOf(configuration)).isEqualTo(counterexample);
  }

  /** Its invariant says that the model never gets to a place, and it must be wrong. */
  @ParameterizedTest
  @MethodSource("places")
  @Timeout(value = 6, unit = TimeUnit.MINUTES)
  void checkGetsWhereItMatters(String configuration) {
    assertThat(Tlc.explain(configuration, Duration.ofMinutes(5)).violated())
        .contains(Configurations.onlyInvariantOf(configuration));
  }

  static List<String> places() {
    return Configurations.in("reached");
  }
}
