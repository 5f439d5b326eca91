package dev.lukko.jdbc;

import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** The database can be reached, but its tables are not those of this library. */
final class SchemaException extends SQLException {
  private static final long serialVersionUID = 1L;

  SchemaException(String message, @Nullable SQLException cause) {
    super(message, "42000", cause);
  }
}
