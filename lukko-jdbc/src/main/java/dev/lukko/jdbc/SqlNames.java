package dev.lukko.jdbc;

import java.util.regex.Pattern;

/** Checks on names of tables and columns, since a statement takes no parameter for them. */
final class SqlNames {
  private static final Pattern SIMPLE = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,62}");

  private SqlNames() {}

  static String column(String field, String name) {
    if (!SIMPLE.matcher(name).matches()) {
      throw new IllegalArgumentException(
          field
              + " is \""
              + name
              + "\"; it must be a plain SQL name: a letter or _, then at most 62 letters, digits"
              + " or _");
    }
    return name;
  }

  /** A table, with or without a schema. */
  static String table(String field, String name) {
    int dot = name.indexOf('.');
    if (dot >= 0) {
      column(field, name.substring(0, dot));
    }
    column(field, name.substring(dot + 1));
    return name;
  }
}
