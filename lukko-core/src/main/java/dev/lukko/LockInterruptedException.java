package dev.lukko;

/**
 * The thread was interrupted while it waited for a lock. Its interrupt flag is set; whatever was
 * granted to the call is released again.
 */
public final class LockInterruptedException extends LockNotAcquiredException {
  private static final long serialVersionUID = 1L;

  /** An error for an interrupted wait. */
  public LockInterruptedException(Attempt attempt) {
    super("interrupted while waiting for lock " + attempt.resources(), attempt);
  }
}
