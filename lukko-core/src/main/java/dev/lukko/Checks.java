package dev.lukko;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Argument checks whose messages name the field, the value and the rule. */
final class Checks {
  private Checks() {}

  static Duration ttl(String field, @Nullable Duration value) {
    Duration present = required(field, value);
    if (present.compareTo(Duration.ofMillis(1)) < 0) {
      throw new IllegalArgumentException(field + " is " + present + "; it must be at least 1 ms");
    }
    return Duration.ofMillis(toMillisSaturated(present));
  }

  static Duration positive(String field, @Nullable Duration value) {
    Duration present = required(field, value);
    if (present.isZero() || present.isNegative()) {
      throw new IllegalArgumentException(field + " is " + present + "; it must be positive");
    }
    return present;
  }

  static Duration notNegative(String field, @Nullable Duration value) {
    Duration present = required(field, value);
    if (present.isNegative()) {
      throw new IllegalArgumentException(field + " is " + present + "; it must not be negative");
    }
    return present;
  }

  static String text(String field, @Nullable String value, int min, int max) {
    if (value == null) {
      throw new IllegalArgumentException(field + " is null; it must be a text");
    }
    if (value.length() < min || value.length() > max) {
      throw new IllegalArgumentException(
          field
              + " "
              + quoted(value)
              + " has "
              + value.length()
              + " characters; it must have "
              + min
              + " to "
              + max);
    }
    for (int i = 0; i < value.length(); i++) {
      if (Character.isISOControl(value.charAt(i))) {
        throw new IllegalArgumentException(
            field
                + " "
                + quoted(value)
                + " has a control character (code "
                + (int) value.charAt(i)
                + ") at index "
                + i
                + "; control characters are not allowed");
      }
    }
    if (!isWellFormed(value)) {
      throw new IllegalArgumentException(
          field + " " + quoted(value) + " has half a surrogate pair; it must be valid Unicode");
    }
    return value;
  }

  private static boolean isWellFormed(String value) {
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      if (Character.isHighSurrogate(c)
          && i + 1 < value.length()
          && Character.isLowSurrogate(value.charAt(i + 1))) {
        i++;
      } else if (Character.isSurrogate(c)) {
        return false;
      }
    }
    return true;
  }

  private static Duration required(String field, @Nullable Duration value) {
    if (value == null) {
      throw new IllegalArgumentException(field + " is null; it must be a duration");
    }
    return value;
  }

  private static long toMillisSaturated(Duration value) {
    try {
      return value.toMillis();
    } catch (ArithmeticException tooLong) {
      return Long.MAX_VALUE;
    }
  }

  private static String quoted(String value) {
    String shown = value.length() <= 40 ? value : value.substring(0, 40) + "...";
    StringBuilder out = new StringBuilder("\"");
    for (int i = 0; i < shown.length(); i++) {
      char c = shown.charAt(i);
      if (Character.isISOControl(c)) {
        out.append(String.format("\\u%04x", (int) c));
      } else {
        out.append(c);
      }
    }
    return out.append('"').toString();
  }
}
