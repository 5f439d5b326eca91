package dev.lukko.testkit.sim;

import java.util.logging.Level;
import java.util.logging.Logger;

/** Keeps the engine from logging what millions of faults make it say. */
final class QuietLoggers {
  /** Held, or the setting would be collected with the logger. */
  private static final Logger LUKKO = Logger.getLogger("dev.lukko");

  private QuietLoggers() {}

  static void set() {
    LUKKO.setLevel(Level.OFF);
  }
}
