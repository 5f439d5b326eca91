package dev.lukko.cli;

import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * Keeps the log of the libraries below this command off standard error, where every line is the
 * command's own or its child's.
 */
final class LibraryLog {

  /** Held here, since the log manager alone would let it go. */
  private static final Logger ROOT = Logger.getLogger("");

  private LibraryLog() {}

  static void silence() {
    ROOT.setLevel(Level.OFF);
  }
}
