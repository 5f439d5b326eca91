package dev.lukko.scorecard;

import java.util.Locale;

/**
 * What came of a row for a library.
 *
 * @param verdict whether the expected outcome was seen
 * @param fact what was seen, in a few words
 */
record Finding(Verdict verdict, String fact) {

  /** Whether the expected outcome was seen. */
  enum Verdict {
    /** It was. */
    HELD("held"),
    /** It was not. */
    BROKEN("broken"),
    /** The library has no such thing, or the row needs what it does not use. */
    NOT_APPLICABLE("n/a"),
    /** The row could not be run here. */
    NOT_RUN("not run");

    private final String words;

    Verdict(String words) {
      this.words = words;
    }

    String words() {
      return words;
    }
  }

  static Finding held(String fact, Object... details) {
    return new Finding(Verdict.HELD, text(fact, details));
  }

  static Finding broken(String fact, Object... details) {
    return new Finding(Verdict.BROKEN, text(fact, details));
  }

  static Finding notApplicable(String fact) {
    return new Finding(Verdict.NOT_APPLICABLE, fact);
  }

  static Finding notRun(String fact) {
    return new Finding(Verdict.NOT_RUN, fact);
  }

  /** A fact with numbers in it. */
  static String text(String fact, Object... details) {
    return String.format(Locale.ROOT, fact, details);
  }
}
