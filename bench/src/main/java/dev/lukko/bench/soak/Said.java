package dev.lukko.bench.soak;

import java.util.Locale;

/** What a client tells on a line of its output: the word, what it is about, and a full stop. */
enum Said {
  /** It is about to begin. */
  READY,
  /** It was granted the lock: the token. */
  GRANTED,
  /** It has let the lock go: the token. */
  RELEASED,
  /** It was told of the loss of its lease: token and reason. */
  LOST,
  /** It was told that an addition was done: id and token. */
  ADDED,
  /** It has found an addition whose outcome had been unknown: id and token. */
  FOUND,
  /** The set has refused its token: id, token, and whether the lease was valid even then. */
  REFUSED,
  /** It does not know whether an addition was done: id and token. */
  UNKNOWN,
  /** The lock was held by others all the time. */
  BUSY,
  /** No quorum could be reached. */
  UNAVAILABLE,
  /** It is closed. */
  CLOSED;

  /** A line that was cut off by the end of the process must not look like a whole one. */
  private static final String END = " .";

  String line(Object... details) {
    StringBuilder line = new StringBuilder(name().toLowerCase(Locale.ROOT));
    for (Object detail : details) {
      line.append(' ').append(detail);
    }
    return line.append(END).append('\n').toString();
  }

  /** The words of a whole line; none if it is not one. */
  static String[] words(String line) {
    return line.endsWith(END)
        ? line.substring(0, line.length() - END.length()).split(" ", -1)
        : new String[0];
  }

  static Said of(String word) {
    return valueOf(word.toUpperCase(Locale.ROOT));
  }
}
