package dev.lukko.fencing;

import dev.lukko.LockException;

/**
 * A resource refused a fencing token: it has seen a higher one, or this one was used already where
 * each may be used once. Nothing was written. Whoever gets it no longer holds the lock, and trying
 * again with the same token cannot help.
 */
public final class StaleTokenException extends LockException {
  private static final long serialVersionUID = 1L;

  private final String resource;
  private final long token;
  private final long highest;

  /**
   * An error for a refused token.
   *
   * @param resource what refused it
   * @param token the token that was refused
   * @param highest the highest token that the resource has seen, not lower than {@code token}
   */
  public StaleTokenException(String resource, long token, long highest) {
    super(
        token == highest
            ? "fencing token "
                + token
                + " for \""
                + resource
                + "\" was used already, highest seen "
                + highest
                + "; each token is accepted once here"
            : "fencing token "
                + token
                + " for \""
                + resource
                + "\" is stale: the resource has already seen "
                + highest);
    this.resource = resource;
    this.token = token;
    this.highest = highest;
  }

  /** The name of the resource that refused the token. */
  public String resource() {
    return resource;
  }

  /** The token that was refused. */
  public long token() {
    return token;
  }

  /** The highest token that the resource has seen. */
  public long highest() {
    return highest;
  }
}
