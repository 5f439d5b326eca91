package dev.lukko.spec;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What the protocol promises holds in every state within a bound. */
class ProtocolTest {
  @ParameterizedTest
  @MethodSource("small")
  @Timeout(value = 6, unit = TimeUnit.MINUTES)
  void holdsInEveryStateOfASmallBound(String configuration) {
    assertHolds(configuration, Duration.ofMinutes(5));
  }

  static List<String> small() {
    return Configurations.in("holds/verify");
  }

  @Tag("ci-model")
  @ParameterizedTest
  @MethodSource("middle")
  @Timeout(value = 20, unit = TimeUnit.MINUTES)
  void holdsInEveryStateOfAMiddleBound(String configuration) {
    assertHolds(configuration, Duration.ofMinutes(19));
  }

  static List<String> middle() {
    return Configurations.in("holds/ci");
  }

  @Tag("nightly")
  @ParameterizedTest
  @MethodSource("large")
  @Timeout(value = 121, unit = TimeUnit.MINUTES)
  void holdsInEveryStateOfALargeBound(String configuration) {
    assertHolds(configuration, Duration.ofHours(2));
  }

  static List<String> large() {
    return Configurations.in("holds/nightly");
  }

  private static void assertHolds(String configuration, Duration limit) {
    TlcResult result = Tlc.exhaust(configuration, limit);

    assertThat(result.violated()).as(result.output()).isEmpty();
    assertThat(result.complete()).isTrue();
    assertThat(result.distinct()).isGreaterThan(500);
  }
}
