package dev.lukko;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A lease is no longer held. Work done since then was not protected by the lock; a resource that
 * checks the fencing token has refused what came after the next holder's first access.
 */
public final class LeaseLostException extends LockException {
  private static final long serialVersionUID = 1L;

  private final ArrayList<String> resources; // A type that can be serialized.
  private final long fencingToken;
  private final LossReason reason;
  private final transient @Nullable Object value;

  /** An error for a lost lease. */
  public LeaseLostException(List<String> resources, long fencingToken, LossReason reason) {
    this(resources, fencingToken, reason, null);
  }

  private LeaseLostException(
      List<String> resources, long fencingToken, LossReason reason, @Nullable Object value) {
    super(
        "lease of "
            + resources
            + " with fencing token "
            + fencingToken
            + " is not held: "
            + reason.explanation());
    this.resources = new ArrayList<>(resources);
    this.fencingToken = fencingToken;
    this.reason = reason;
    this.value = value;
  }

  /** The same loss, with the value that the body had computed. */
  LeaseLostException withValue(Object computed) {
    LeaseLostException copy = new LeaseLostException(resources, fencingToken, reason, computed);
    copy.setStackTrace(getStackTrace());
    return copy;
  }

  /** The names that were locked. */
  public List<String> resources() {
    return List.copyOf(resources);
  }

  /** The token of the lost lease. */
  public long fencingToken() {
    return fencingToken;
  }

  /** Why it is not held. */
  public LossReason reason() {
    return reason;
  }

  /** The value that the body of {@code using} had computed although its lease was lost. */
  public Optional<Object> value() {
    return Optional.ofNullable(value);
  }
}
