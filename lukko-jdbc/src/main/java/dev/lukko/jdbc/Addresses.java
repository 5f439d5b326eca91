package dev.lukko.jdbc;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Names of databases for messages: where they are, without anything that one logs in with. */
final class Addresses {
  private Addresses() {}

  /**
   * The address in a JDBC URL.
   *
   * @param number what tells nodes without an address apart
   */
  static String of(@Nullable String url, int number) {
    if (url == null || url.isEmpty()) {
      return "jdbc-" + number;
    }
    String address = url.startsWith("jdbc:") ? url.substring("jdbc:".length()) : url;
    for (char end : new char[] {'?', ';', '#'}) {
      int at = address.indexOf(end);
      address = at < 0 ? address : address.substring(0, at);
    }
    address = address.replaceFirst("//[^/@]*@", "//");
    return address.toLowerCase(Locale.ROOT).contains("password") ? "jdbc-" + number : address;
  }
}
