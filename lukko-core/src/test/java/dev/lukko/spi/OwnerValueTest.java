package dev.lukko.spi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.Holder;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class OwnerValueTest {
  private static final Instant NOW = Instant.parse("2026-01-31T12:00:00.123456Z");
  private final SecureRandom random = new SecureRandom();

  @Test
  void everyValueIsAnotherAndHasAtLeast128RandomBits() {
    Set<String> values = new HashSet<>();
    for (int i = 0; i < 10_000; i++) {
      String owner = OwnerValue.create(random, NOW, "same");
      String secret = owner.substring(0, owner.indexOf(' '));
      assertThat(secret).hasSize(27).matches("[A-Za-z0-9_-]+"); // 27 * 6 bits
      values.add(secret);
    }
    assertThat(values).hasSize(10_000);
  }

  @Test
  void descriptionTellsWhoAndWhenAndNotTheSecret() {
    String value = OwnerValue.create(random, NOW, "4711@web-1/main nightly billing");
    Holder holder = OwnerValue.describe(value, Duration.ofMillis(1_500));
    assertThat(holder.description()).isEqualTo("4711@web-1/main nightly billing");
    assertThat(holder.since()).hasValue(NOW.truncatedTo(ChronoUnit.MILLIS));
    assertThat(holder.remaining()).hasValue(Duration.ofMillis(1_500));
    assertThat(holder.toString()).doesNotContain(value.substring(0, value.indexOf(' ')));
  }

  @Test
  void longDescriptionIsCut() {
    String value = OwnerValue.create(random, NOW, "x".repeat(1_000));
    assertThat(value.length()).isLessThan(256);
    assertThat(OwnerValue.describe(value, null).description()).matches("x{190}");
  }

  @Test
  void emptyDescriptionIsDescribed() {
    String value = OwnerValue.create(random, NOW, "");
    assertThat(OwnerValue.describe(value, null).since())
        .hasValue(NOW.truncatedTo(ChronoUnit.MILLIS));
  }

  @Test
  void foreignValuesAreShownByTheirFirstCharactersOnly() {
    for (String foreign :
        List.of(
            "",
            "foo",
            "1",
            "a".repeat(27) + " not-a-time rest",
            "a".repeat(27) + " ",
            "a".repeat(500),
            "\u0000\u0001",
            "5ff2c1f4-2d5a-4c77-9f8c-0b7f0e5f7d10:42")) {
      Holder holder = OwnerValue.describe(foreign, null);
      assertThat(holder.since()).isEmpty();
      assertThat(holder.remaining()).isEmpty();
      assertThat(holder.description()).startsWith("a foreign owner '");
      assertThat(holder.description().length()).isLessThan(40);
    }
  }

  @Test
  void fingerprintRecognisesAValueWithoutShowingIt() {
    String value = OwnerValue.create(random, NOW, "d");
    assertThat(OwnerValue.fingerprint(value))
        .matches("[0-9a-f]{12}")
        .isEqualTo(OwnerValue.fingerprint(value))
        .isNotEqualTo(OwnerValue.fingerprint(value + " "));
    assertThat(value).doesNotContain(OwnerValue.fingerprint(value));
  }
}
