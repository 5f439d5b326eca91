package dev.lukko.fencing;

import dev.lukko.LockException;

/**
 * An idempotency key was used again for another request. Nothing was run and nothing changed: it is
 * an error of the caller, who has to draw a key for each request.
 */
public final class KeyReusedException extends LockException {
  private static final long serialVersionUID = 1L;

  private final String key;

  /**
   * An error for a key that belongs to another request.
   *
   * @param stored the fingerprint with which the key was used first
   * @param given the fingerprint of this request
   */
  public KeyReusedException(String key, RequestFingerprint stored, RequestFingerprint given) {
    super(
        "idempotency key \""
            + key
            + "\" belongs to another request: its fingerprint is "
            + stored.shortForm()
            + ", this request's is "
            + given.shortForm());
    this.key = key;
  }

  /** The key. */
  public String key() {
    return key;
  }
}
