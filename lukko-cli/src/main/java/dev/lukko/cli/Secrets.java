package dev.lukko.cli;

import java.util.regex.Pattern;

/** Keeps passwords of node addresses out of everything that is shown. */
final class Secrets {

  /**
   * What stands between the scheme and the last at-sign of a word: a password may itself hold an
   * at-sign or a slash, though it should be written as %40 or %2F.
   */
  private static final Pattern USER_INFO = Pattern.compile("(://)[^\\s'\"]*@");

  private Secrets() {}

  static String hide(String text) {
    return USER_INFO.matcher(text).replaceAll("$1***@");
  }
}
