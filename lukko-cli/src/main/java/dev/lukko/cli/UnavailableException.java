package dev.lukko.cli;

/** The store of the locks cannot be used; the message says why. */
final class UnavailableException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  UnavailableException(String message) {
    super(message);
  }
}
