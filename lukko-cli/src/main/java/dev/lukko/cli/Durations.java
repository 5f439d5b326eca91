package dev.lukko.cli;

import java.math.BigDecimal;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Durations as people write and read them. */
final class Durations {

  private static final Pattern NUMBER_AND_UNIT = Pattern.compile("(\\d+(?:\\.\\d+)?)([a-zA-Z]+)");
  private static final Pattern BARE_NUMBER = Pattern.compile("\\d+(?:\\.\\d+)?");
  private static final Map<String, Duration> UNITS =
      Map.of(
          "ms", Duration.ofMillis(1),
          "s", Duration.ofSeconds(1),
          "m", Duration.ofMinutes(1),
          "h", Duration.ofHours(1),
          "d", Duration.ofDays(1));

  private Durations() {}

  /**
   * Reads a number with a unit ({@code 500ms}, {@code 1.5s}, {@code 2m}, {@code 1h}, {@code 1d}) or
   * the form of ISO 8601 ({@code PT30S}). Never negative.
   *
   * @throws IllegalArgumentException if it is anything else; the message says what to write
   */
  static Duration parse(String text) {
    if (BARE_NUMBER.matcher(text).matches()) {
      throw new IllegalArgumentException(
          "'"
              + text
              + "' has no unit; write "
              + text
              + "s for seconds or "
              + text
              + "ms for milliseconds");
    }
    Matcher matcher = NUMBER_AND_UNIT.matcher(text);
    if (matcher.matches()) {
      Duration unit = UNITS.get(matcher.group(2).toLowerCase(Locale.ROOT));
      if (unit != null) {
        return times(text, new BigDecimal(matcher.group(1)), unit);
      }
    }
    if (text.startsWith("P") || text.startsWith("p")) {
      try {
        Duration parsed = Duration.parse(text);
        if (!parsed.isNegative()) {
          return parsed;
        }
      } catch (DateTimeParseException notIso) {
        // Refused below, with what would be right.
      }
    }
    throw new IllegalArgumentException(
        "'"
            + text
            + "' is not a duration; write a number with a unit (500ms, 30s, 2m, 1h) or PT30S");
  }

  private static Duration times(String text, BigDecimal number, Duration unit) {
    try {
      BigDecimal nanos = number.multiply(BigDecimal.valueOf(unit.toNanos()));
      return Duration.ofNanos(nanos.setScale(0, java.math.RoundingMode.DOWN).longValueExact());
    } catch (ArithmeticException tooLong) {
      throw new IllegalArgumentException("'" + text + "' is too long; the limit is 292 years");
    }
  }

  /** The duration to three digits or so, with units: {@code 350 ms}, {@code 26.8 s}. */
  static String show(Duration duration) {
    long millis = duration.toMillis();
    if (millis < 1_000) {
      return millis + " ms";
    }
    if (millis < 60_000) {
      return String.format(Locale.ROOT, "%d.%d s", millis / 1_000, millis % 1_000 / 100);
    }
    long seconds = duration.toSeconds();
    if (seconds < 3_600) {
      return seconds / 60 + " min " + seconds % 60 + " s";
    }
    return seconds / 3_600 + " h " + seconds % 3_600 / 60 + " min";
  }
}
