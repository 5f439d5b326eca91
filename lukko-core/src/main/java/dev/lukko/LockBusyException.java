package dev.lukko;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The lock is held by another. Trying later may help. */
public final class LockBusyException extends LockNotAcquiredException {
  private static final long serialVersionUID = 1L;

  private final transient @Nullable Holder holder;

  /**
   * An error for a busy lock.
   *
   * @param attempt what was tried
   * @param holder who holds it, or null if no node told
   */
  public LockBusyException(Attempt attempt, @Nullable Holder holder) {
    super(
        "lock "
            + attempt.resources()
            + " is held by "
            + (holder == null ? "another" : "another: " + holder),
        attempt);
    this.holder = holder;
  }

  /** Who holds the lock and for how long, if a node told. */
  public Optional<Holder> holder() {
    return Optional.ofNullable(holder);
  }
}
