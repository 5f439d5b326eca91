package dev.lukko.cli;

import dev.lukko.text.Printable;
import dev.lukko.text.PrintableAddress;
import java.util.regex.Pattern;

/** Keeps passwords of node addresses out of everything that is shown. */
final class Secrets {

  /**
   * In running text, behind which there is no address any more that was not made printable: what
   * stands between the scheme and the last at-sign of a word, or before the at-sign where the
   * scheme was forgotten.
   */
  private static final Pattern USER_INFO =
      Pattern.compile("(://)[^\\s'\"]*@|(?<![^\\s'\"])(?![^\\s'\"@]*://)[^\\s'\"@]*:[^\\s'\"]*@");

  /** A word that somebody may have meant for an address. */
  private static final Pattern MAYBE_ADDRESS =
      Pattern.compile(".*[@:].*|(?:redis|jdbc).*", Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

  private Secrets() {}

  /** A text with the passwords in it hidden. */
  static String hide(String text) {
    return USER_INFO.matcher(text).replaceAll("$1***@");
  }

  /** One word of the command line, which may be an address in any shape. */
  static String hideInWord(String word) {
    return MAYBE_ADDRESS.matcher(word).matches() ? PrintableAddress.of(word) : Printable.of(word);
  }
}
