package dev.lukko;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The lock is held by another, or was taken away before it was ours. Trying later may help. */
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
    this(
        "lock "
            + attempt.resources()
            + " is held by "
            + (holder == null ? "another" : "another: " + holder),
        attempt,
        holder);
  }

  private LockBusyException(String what, Attempt attempt, @Nullable Holder holder) {
    super(what, attempt);
    this.holder = holder;
  }

  /**
   * An error for a quorum of nodes that granted the lock, too many of which no longer had its entry
   * when they were asked to agree to its fencing token.
   *
   * @param attempt what was tried, with the answers about the token
   * @param token the number that was asked for
   */
  public static LockBusyException ofToken(Attempt attempt, long token) {
    return new LockBusyException(
        "lock "
            + attempt.resources()
            + " was granted by a quorum, but its entries were gone before the nodes agreed to the"
            + " fencing token "
            + token,
        attempt,
        null);
  }

  /** Who holds the lock and for how long, if a node told. */
  public Optional<Holder> holder() {
    return Optional.ofNullable(holder);
  }
}
