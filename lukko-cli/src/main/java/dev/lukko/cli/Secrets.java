package dev.lukko.cli;

import java.util.regex.Pattern;

/** Keeps passwords of node addresses out of everything that is shown. */
final class Secrets {

  /**
   * In running text: what stands between the scheme and the last at-sign of a word, or before the
   * at-sign where the scheme was forgotten. A password may itself hold an at-sign or a slash,
   * though these should be written as %40 and %2F.
   */
  private static final Pattern USER_INFO =
      Pattern.compile("(://)[^\\s'\"]*@|(?<![^\\s'\"])(?![^\\s'\"@]*://)[^\\s'\"@]*:[^\\s'\"]*@");

  private Secrets() {}

  /** A text with the passwords in it hidden. */
  static String hide(String text) {
    return USER_INFO.matcher(text).replaceAll("$1***@");
  }

  /** One word of the command line, which may be an address in any shape. */
  static String hideInWord(String word) {
    int at = word.lastIndexOf('@');
    int scheme = word.indexOf("://");
    if (at < 0) {
      return word;
    }
    return (scheme >= 0 && scheme < at ? word.substring(0, scheme + 3) : "")
        + "***"
        + word.substring(at);
  }
}
