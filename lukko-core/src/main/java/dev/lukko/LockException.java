package dev.lukko;

import org.jspecify.annotations.Nullable;

/**
 * The root of all errors of this library; unchecked. Each subclass is something that a caller would
 * handle differently.
 */
public class LockException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** An error with a message that says what happened to which resource. */
  public LockException(String message) {
    super(message);
  }

  /** The same with an underlying failure. */
  public LockException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
