package dev.lukko.jdbc;

import dev.lukko.text.PrintableAddress;
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
    String address = url == null ? null : PrintableAddress.ofDatabase(url);
    return address == null ? "jdbc-" + number : address;
  }
}
