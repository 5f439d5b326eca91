package dev.lukko;

/** The client was closed before or during the call. */
public final class ClientClosedException extends LockException {
  private static final long serialVersionUID = 1L;

  /** An error that names the call that could not be made. */
  public ClientClosedException(String message) {
    super(message);
  }
}
