package dev.lukko.redis.protocol;

import dev.lukko.LockException;

/** A request was certainly not written to any connection. */
public final class NotSentException extends LockException {
  private static final long serialVersionUID = 1L;

  /** An error that says why. */
  public NotSentException(String why, Throwable cause) {
    super(why, cause);
  }

  /** An error that says why. */
  public NotSentException(String why) {
    super(why);
  }
}
