package dev.lukko.annotation;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.Optional;

/** What a skipped call returns, by the type that its method declares. */
public final class SkippedAnswer {
  private SkippedAnswer() {}

  /**
   * The answer for methods of this type, or empty if a skipped run would look like a result.
   *
   * @param returned what the method returns; of a future or publisher, what that gives
   */
  public static Optional<BusyAnswer> of(Type returned) {
    if (returned == void.class || returned == Void.class) {
      return Optional.of(busy -> null);
    }
    return rawType(returned) == LockResult.class
        ? Optional.of(LockResult::skipped)
        : Optional.empty();
  }

  private static Type rawType(Type type) {
    return type instanceof ParameterizedType generic ? generic.getRawType() : type;
  }
}
