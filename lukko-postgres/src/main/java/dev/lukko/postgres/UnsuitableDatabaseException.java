package dev.lukko.postgres;

import dev.lukko.LockException;

/**
 * The database, or the way to it, cannot carry what was asked for: a pooler that hands the server's
 * sessions around, a read-only standby, a missing schema. Trying again does not help; the message
 * says what does.
 */
public final class UnsuitableDatabaseException extends LockException {
  private static final long serialVersionUID = 1L;

  /** An error that says what is unsuitable and what to do. */
  public UnsuitableDatabaseException(String message) {
    super(message);
  }
}
