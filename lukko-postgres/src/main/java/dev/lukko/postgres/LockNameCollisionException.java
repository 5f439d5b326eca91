package dev.lukko.postgres;

import dev.lukko.LockException;

/**
 * Two different names have the same 64-bit lock number, and one of them is held now. The names
 * exclude each other as if they were one; rename one of them.
 *
 * <p>The number is the start of a SHA-256 digest. Among a million names in use at the same time,
 * the odds that any two collide are 1 in 37 million; among a thousand, 1 in 37 million million.
 */
public final class LockNameCollisionException extends LockException {
  private static final long serialVersionUID = 1L;

  private final String requested;
  private final String held;

  /**
   * An error for two names with one number.
   *
   * @param requested the name that was asked for, behind its namespace
   * @param held the name that is held, behind its namespace
   * @param lockNumber the number that both have
   */
  public LockNameCollisionException(String requested, String held, long lockNumber) {
    super(
        "lock names "
            + requested
            + " and "
            + held
            + " have the same advisory lock number "
            + lockNumber
            + ": this is a collision, not contention; rename one of them");
    this.requested = requested;
    this.held = held;
  }

  /** The name that was asked for, as {@code namespace/name}. */
  public String requested() {
    return requested;
  }

  /** The name that is held, as {@code namespace/name}. */
  public String held() {
    return held;
  }
}
