package dev.lukko.cli;

/** The exit codes of this command; those up to 78 have the meaning of {@code sysexits.h}. */
final class ExitCode {
  static final int OK = 0;

  /** The demo did not come out as promised. */
  static final int BROKEN_PROMISE = 1;

  /** A node has an error, or there is no quorum. */
  static final int UNHEALTHY = 1;

  /** The command line is wrong; nothing was done. */
  static final int USAGE = 64;

  /** No quorum of nodes could be reached, or the lock file cannot be used. */
  static final int UNAVAILABLE = 69;

  /** An error in this program. */
  static final int SOFTWARE = 70;

  /** The lock is held by another. */
  static final int HELD = 75;

  /** The lock was lost while the command ran. */
  static final int LOST = 79;

  /** A process of the command could not be ended. The shell says it of a signal, too. */
  static final int NOT_ENDED = 80;

  /** The command was ended at the end of {@code --max-hold}; what {@code timeout} says. */
  static final int HELD_TOO_LONG = 124;

  /** The command was found and could not be run. */
  static final int CANNOT_RUN = 126;

  /** The command was not found. */
  static final int NOT_FOUND = 127;

  private ExitCode() {}
}
