package dev.lukko.annotation;

/** What becomes of a call whose lock is held by another. */
public enum OnBusy {
  /** The caller gets the {@link dev.lukko.LockBusyException}. */
  THROW,
  /**
   * The method is not run, and the call returns. The method must return nothing, or a {@link
   * LockResult}, or a future or publisher of one of these, so that a skipped run cannot be taken
   * for a result.
   */
  SKIP,
  /** The method that {@link Locked#callback} names is called instead. */
  CALLBACK
}
