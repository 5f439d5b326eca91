package dev.lukko.redis;

import java.time.Duration;

/** Checks on durations whose messages name the field, the value and the rule. */
final class RedisRanges {
  private static final Duration LONGEST_RETENTION = Duration.ofDays(3650);

  private RedisRanges() {}

  static long retentionMillis(String field, Duration value) {
    return millis(field, value, Duration.ofSeconds(1), LONGEST_RETENTION, "1 s to 3650 days");
  }

  static long millis(String field, Duration value, Duration min, Duration max, String range) {
    if (value.compareTo(min) < 0 || value.compareTo(max) > 0) {
      throw new IllegalArgumentException(field + " is " + value + "; it must be " + range);
    }
    return value.toMillis();
  }
}
