package dev.lukko.cli.demo;

/** The demo could not be carried through; its message says why, for people. */
public final class DemoFailedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  DemoFailedException(String message) {
    super(message);
  }
}
