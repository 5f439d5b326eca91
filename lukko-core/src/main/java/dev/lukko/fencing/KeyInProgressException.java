package dev.lukko.fencing;

import dev.lukko.LockException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The request of an idempotency key is being run by another call, which did not end within the
 * wait. Nothing was run here; trying later gives its result, or runs it if that call failed.
 */
public final class KeyInProgressException extends LockException {
  private static final long serialVersionUID = 1L;

  private final String key;

  /**
   * An error for a key whose request is running.
   *
   * @param maxWait how long this call was allowed to wait
   * @param cause how the store said so, or null
   */
  public KeyInProgressException(String key, Duration maxWait, @Nullable Throwable cause) {
    super(
        "the request of idempotency key \""
            + key
            + "\" is still being run by another call, after a wait of up to "
            + maxWait.toMillis()
            + " ms",
        cause);
    this.key = key;
  }

  /** The key. */
  public String key() {
    return key;
  }
}
