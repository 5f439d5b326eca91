package dev.lukko.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ValidityWindowTest {

  @Test
  void isStartPlusTtlLessDriftOnBothClocks() {
    ValidityWindow window = ValidityWindow.of(1_000, 50, 10_000_000, 100_000);
    assertThat(window.endNanos()).isEqualTo(1_000 + 9_900_000);
    assertThat(window.wallEndMicros()).isEqualTo(50 + 9_900);
  }

  @Test
  void isOpenUntilTheEndAndNotAtIt() {
    ValidityWindow window = ValidityWindow.of(0, 0, 10_000, 0);
    assertThat(window.isOpen(9_999, 0)).isTrue();
    assertThat(window.isOpen(10_000, 0)).isFalse();
    assertThat(window.isOpen(0, 9)).isTrue();
    assertThat(window.isOpen(0, 10)).isFalse();
  }

  @Test
  void theClockThatIsFurtherCounts() {
    ValidityWindow window = ValidityWindow.of(0, 0, 1_000_000, 0);
    assertThat(window.remainingNanos(400_000, 0)).isEqualTo(600_000);
    assertThat(window.remainingNanos(0, 700)).isEqualTo(300_000);
    assertThat(window.remainingNanos(0, -3_600_000_000L)).isEqualTo(1_000_000);
    assertThat(window.remainingNanos(0, 3_600_000_000L)).isNegative();
  }

  @ParameterizedTest
  @ValueSource(longs = {Long.MAX_VALUE, Long.MAX_VALUE - 5, Long.MIN_VALUE, -1, 0})
  void survivesAMonotonicClockThatWrapsAround(long start) {
    ValidityWindow window = ValidityWindow.of(start, 0, 10_000, 1_000);
    assertThat(window.remainingNanos(start, 0)).isEqualTo(9_000);
    assertThat(window.isOpen(start + 8_999, 0)).isTrue();
    assertThat(window.isOpen(start + 9_000, 0)).isFalse();
    ValidityWindow earlier = ValidityWindow.of(start, 0, 5_000, 1_000);
    assertThat(window.upTo(earlier)).isEqualTo(earlier);
    assertThat(earlier.upTo(window)).isEqualTo(earlier);
  }

  @Test
  void wallClockCenturiesAheadEndsIt() {
    ValidityWindow window = ValidityWindow.of(0, 0, 10_000, 0);
    for (long years = 1; years < 100_000; years *= 3) {
      long micros = years * 365 * 86_400_000_000L;
      assertThat(window.isOpen(0, micros)).as("%s years", years).isFalse();
      assertThat(window.isOpen(0, -micros)).as("-%s years", years).isTrue();
    }
  }

  @Test
  void limitCutsEachClockByItself() {
    assertThat(new ValidityWindow(100, 7).upTo(new ValidityWindow(50, 9)))
        .isEqualTo(new ValidityWindow(50, 7));
  }

  @Test
  void driftIsFactorTimesTtlPlusBufferRoundedUp() {
    assertThat(ValidityWindow.driftNanos(1_000_000_000, 0.01, 2_000_000)).isEqualTo(12_000_000);
    assertThat(ValidityWindow.driftNanos(1, 0.01, 0)).isEqualTo(1);
    assertThat(ValidityWindow.driftNanos(0, 0.01, 0)).isZero();
    assertThat(ValidityWindow.driftNanos(5, 0, 7)).isEqualTo(7);
  }

  @Test
  void driftSaturates() {
    assertThat(ValidityWindow.driftNanos(Long.MAX_VALUE, 0.999, Long.MAX_VALUE))
        .isEqualTo(Long.MAX_VALUE);
    assertThat(ValidityWindow.driftNanos(Long.MAX_VALUE, 0.01, 0)).isPositive();
  }

  @ParameterizedTest
  @ValueSource(longs = {11, 12, 13})
  void driftIsNeverBelowTheExactProductByMoreThanAFewNanoseconds(long seed) {
    Random random = new Random(seed);
    for (int i = 0; i < 10_000; i++) {
      long ttl = (long) (random.nextDouble() * Duration.ofDays(100).toNanos());
      double factor = random.nextDouble();
      long exact =
          BigDecimal.valueOf(ttl)
              .multiply(new BigDecimal(factor))
              .setScale(0, RoundingMode.CEILING)
              .longValueExact();
      assertThat(ValidityWindow.driftNanos(ttl, factor, 0)).isBetween(exact - 2, exact + 2);
    }
  }
}
