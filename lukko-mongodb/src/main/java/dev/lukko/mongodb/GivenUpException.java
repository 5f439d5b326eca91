package dev.lukko.mongodb;

/** The call whose work this is has its answer already: nothing more is to be done for it. */
final class GivenUpException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  GivenUpException() {
    super("given up", null, false, false);
  }
}
