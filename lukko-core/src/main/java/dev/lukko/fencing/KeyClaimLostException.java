package dev.lukko.fencing;

import dev.lukko.LockException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The work of an idempotency key was done, but took longer than its claim was valid: the result
 * could not be stored, and another call may have done the work again.
 */
public final class KeyClaimLostException extends LockException {
  private static final long serialVersionUID = 1L;

  private final String key;
  private final @Nullable String result;

  /** An error for a claim that has ended before its work. */
  public KeyClaimLostException(String key, @Nullable String result) {
    super(
        "the claim of idempotency key \""
            + key
            + "\" ended before its work did; the result is not stored, and the work may have been"
            + " done twice: give the claim a longer ttl");
    this.key = key;
    this.result = result;
  }

  /** The key. */
  public String key() {
    return key;
  }

  /** What the work has returned, unless that was null. */
  public Optional<String> result() {
    return Optional.ofNullable(result);
  }
}
