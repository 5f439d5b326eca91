package dev.lukko.jdbc;

import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** The end of an attempt that has certainly changed nothing, and is worth another one. */
final class Again extends Exception {
  private static final long serialVersionUID = 1L;

  /**
   * An attempt to be repeated.
   *
   * @param conflict what the server answered; null if rows changed between two reads
   */
  Again(@Nullable SQLException conflict) {
    super(null, conflict, false, false);
  }

  @Nullable SQLException conflict() {
    return (SQLException) getCause();
  }
}
