package dev.lukko.mongodb;

import java.time.Duration;

/** Checks on durations whose messages name the field, the value and the rule. */
final class Ranges {
  private Ranges() {}

  static Duration timeout(String field, Duration value) {
    return between(
        field, value, Duration.ofMillis(10), Duration.ofMinutes(5), "10 ms to 5 minutes");
  }

  /** As an index can say it, which has whole seconds. */
  static Duration retention(String field, Duration value) {
    return between(field, value, Duration.ofSeconds(1), Duration.ofDays(3_650), "1 s to 3650 days");
  }

  static Duration between(String field, Duration value, Duration min, Duration max, String range) {
    if (value.compareTo(min) < 0 || value.compareTo(max) > 0) {
      throw new IllegalArgumentException(field + " is " + value + "; it must be " + range);
    }
    return value;
  }
}
