package dev.lukko.annotation;

import dev.lukko.LockBusyException;
import org.jspecify.annotations.Nullable;

/**
 * What came of a call that may be skipped: a method with {@link OnBusy#SKIP} returns {@link
 * #ran(Object)}, and its caller sees one of both.
 *
 * @param <T> what the method has to say when it ran
 */
public sealed interface LockResult<T extends @Nullable Object> {

  /**
   * The method ran.
   *
   * @param value what it returned
   */
  record Ran<T extends @Nullable Object>(T value) implements LockResult<T> {}

  /**
   * The method did not run: another holds the lock.
   *
   * @param busy who, and for how long it was tried
   */
  record Skipped<T extends @Nullable Object>(LockBusyException busy) implements LockResult<T> {}

  /** What a method returns that ran. */
  static <T extends @Nullable Object> LockResult<T> ran(T value) {
    return new Ran<>(value);
  }

  /** What a call returns that was skipped. */
  static <T extends @Nullable Object> LockResult<T> skipped(LockBusyException busy) {
    return new Skipped<>(busy);
  }

  /** Whether the method ran. */
  default boolean hasRun() {
    return this instanceof Ran;
  }
}
