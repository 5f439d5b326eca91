package dev.lukko.fencing;

import dev.lukko.LockRequest;
import org.jspecify.annotations.Nullable;

/** The checks that every fence makes on its arguments before any I/O. */
public final class FenceArguments {
  private static final int SHOWN = 40;

  private FenceArguments() {}

  /**
   * Returns the token if it is one.
   *
   * @throws IllegalArgumentException if it is not positive
   */
  public static long token(long token) {
    return token(token, Long.MAX_VALUE);
  }

  /**
   * Returns the token if it is one that the store can compare exactly.
   *
   * @param max the highest that it can
   * @throws IllegalArgumentException if it is not positive, or higher than {@code max}
   */
  public static long token(long token, long max) {
    if (token < 1 || token > max) {
      throw new IllegalArgumentException(
          "token is " + token + "; it must be positive" + (token < 1 ? "" : " and at most " + max));
    }
    return token;
  }

  /**
   * Returns the name if it can name a resource.
   *
   * @throws IllegalArgumentException if it is null, empty, too long, or has a control character or
   *     half a surrogate pair
   */
  public static String resource(@Nullable String resource) {
    return name("resource", resource);
  }

  /** {@link #resource} for a name that the caller knows by another word. */
  public static String name(String field, @Nullable String value) {
    if (value == null) {
      throw new IllegalArgumentException(field + " is null; it must be a text");
    }
    if (value.isEmpty() || value.length() > LockRequest.MAX_NAME_LENGTH) {
      throw new IllegalArgumentException(
          field
              + " "
              + shown(value)
              + " has "
              + value.length()
              + " characters; it must have 1 to "
              + LockRequest.MAX_NAME_LENGTH);
    }
    if (value.codePoints().anyMatch(FenceArguments::isForbidden)) {
      throw new IllegalArgumentException(
          field
              + " "
              + shown(value)
              + " has a control character or half a surrogate pair; neither is allowed");
    }
    return value;
  }

  private static boolean isForbidden(int point) {
    return Character.isISOControl(point) || (point >= 0xD800 && point <= 0xDFFF);
  }

  private static String shown(String value) {
    StringBuilder out = new StringBuilder("\"");
    value
        .codePoints()
        .limit(SHOWN)
        .forEach(point -> out.appendCodePoint(isForbidden(point) ? '?' : point));
    return out.append(value.length() > SHOWN ? "...\"" : "\"").toString();
  }
}
