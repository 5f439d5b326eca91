package dev.lukko.cli.doctor;

/**
 * Something that is not as it should be.
 *
 * @param level how bad it is
 * @param what was found
 * @param breaks what it breaks
 * @param remedy what to do
 */
public record Finding(Level level, String what, String breaks, String remedy) {

  /** How bad a finding is. */
  public enum Level {
    /** The node does not serve, or a lock may be given to two. */
    ERROR,
    /** It serves, and could be safer. */
    WARNING
  }

  static Finding error(String what, String breaks, String remedy) {
    return new Finding(Level.ERROR, what, breaks, remedy);
  }

  static Finding warning(String what, String breaks, String remedy) {
    return new Finding(Level.WARNING, what, breaks, remedy);
  }
}
