package dev.lukko.cli;

/** A wrong command line: the message says what is wrong, and what would be right. */
final class UsageException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  UsageException(String message) {
    super(message);
  }
}
