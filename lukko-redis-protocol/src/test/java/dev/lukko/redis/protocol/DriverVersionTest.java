package dev.lukko.redis.protocol;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

class DriverVersionTest {

  @ParameterizedTest
  @ValueSource(strings = {"6.5.5.RELEASE", "6.5", "5.99.0", "6.0.0-beta1"})
  void driverThatIsTooOldIsRefusedWithBothVersions(String version) {
    assertThatIllegalStateException()
        .isThrownBy(() -> DriverVersion.require("Lettuce", version, 6, 6))
        .withMessageContainingAll("Lettuce", version, "6.6 or later");
  }

  @ParameterizedTest
  @NullSource
  @ValueSource(strings = {"6.6.0.RELEASE", "6.10.1", "7.0-SNAPSHOT", "12.0.0", "unknown", ""})
  void driverThatWillDoOrDoesNotTellIsAccepted(String version) {
    assertThatCode(() -> DriverVersion.require("Lettuce", version, 6, 6))
        .doesNotThrowAnyException();
  }
}
