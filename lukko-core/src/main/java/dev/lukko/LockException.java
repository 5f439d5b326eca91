package dev.lukko;

import dev.lukko.text.Printable;
import org.jspecify.annotations.Nullable;

/**
 * The root of all errors of this library; unchecked. Each subclass is something that a caller would
 * handle differently. What a server or another program has said stands in the messages as text that
 * can be shown.
 */
public class LockException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** An error with a message that says what happened to which resource. */
  public LockException(String message) {
    super(Printable.whole(message));
  }

  /** The same with an underlying failure. */
  public LockException(String message, @Nullable Throwable cause) {
    super(Printable.whole(message), cause);
  }
}
