package dev.lukko.annotation;

import dev.lukko.LockBusyException;
import org.jspecify.annotations.Nullable;

/** What a call returns whose lock is held by another. */
@FunctionalInterface
public interface BusyAnswer {

  /**
   * Gives the answer.
   *
   * @throws Throwable what the caller gets in its place
   */
  @Nullable Object answer(LockBusyException busy) throws Throwable;

  /** The caller gets the error. */
  static BusyAnswer rethrow() {
    return busy -> {
      throw busy;
    };
  }
}
