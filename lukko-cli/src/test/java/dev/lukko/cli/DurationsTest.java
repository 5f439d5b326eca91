package dev.lukko.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DurationsTest {

  @ParameterizedTest
  @CsvSource({
    "500ms, PT0.5S",
    "30s, PT30S",
    "1.5s, PT1.5S",
    "2m, PT2M",
    "1h, PT1H",
    "1d, PT24H",
    "0s, PT0S",
    "30S, PT30S",
    "PT30S, PT30S",
    "PT1M30S, PT1M30S",
    "pt0.2s, PT0.2S",
    "P1D, PT24H"
  })
  void aNumberWithAUnitOrIso8601IsRead(String text, Duration expected) {
    assertThat(Durations.parse(text)).isEqualTo(expected);
  }

  @ParameterizedTest
  @ValueSource(strings = {"30", "0", "1.5"})
  void aBareNumberIsRefusedWithAHint(String text) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Durations.parse(text))
        .withMessage(
            "'%s' has no unit; write %ss for seconds or %sms for milliseconds", text, text, text);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "", " ", "s", "-5s", "+5s", "5 s", "5x", "1m30s", "5s ", ".5s", "1e3s", "PT-30S", "-PT30S",
        "P", "PT", "ten"
      })
  void anythingElseIsRefused(String text) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Durations.parse(text))
        .withMessageStartingWith("'" + text + "' is not a duration; write a number with a unit");
  }

  @Test
  void aDurationBeyondTheLimitIsRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Durations.parse("9999999999999h"))
        .withMessage("'9999999999999h' is too long; the limit is 292 years");
  }

  @ParameterizedTest
  @CsvSource({
    "PT0S, 0 ms",
    "PT0.35S, 350 ms",
    "PT0.9999S, 999 ms",
    "PT1S, 1.0 s",
    "PT26.89S, 26.8 s",
    "PT59.999S, 59.9 s",
    "PT2M5S, 2 min 5 s",
    "PT3H7M59S, 3 h 7 min"
  })
  void aDurationIsShownWithItsUnits(Duration duration, String expected) {
    assertThat(Durations.show(duration)).isEqualTo(expected);
  }
}
