package dev.lukko.jdbc;

import dev.lukko.text.PrintableAddress;
import java.lang.reflect.InvocationTargetException;
import java.util.List;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Names of databases for messages: where they are, without anything that one logs in with. */
final class Addresses {
  /** By which names pools and drivers tell the JDBC URL that they were made with. */
  private static final List<String> GETTERS = List.of("getJdbcUrl", "getUrl", "getURL");

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

  /**
   * The JDBC URL that a source was made with, also while nothing answers there; null if unknown.
   */
  static @Nullable String urlOf(DataSource source) {
    if (source instanceof DriverDataSource own) {
      return own.url();
    }
    for (String getter : GETTERS) {
      String url = told(source, getter);
      if (url != null) {
        return url;
      }
    }
    return null;
  }

  private static @Nullable String told(DataSource source, String getter) {
    try {
      return source.getClass().getMethod(getter).invoke(source) instanceof String url ? url : null;
    } catch (NoSuchMethodException | IllegalAccessException | InvocationTargetException none) {
      return null; // It does not tell, by this name; the node has a number then.
    }
  }
}
