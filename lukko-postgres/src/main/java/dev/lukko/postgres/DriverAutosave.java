package dev.lukko.postgres;

import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.jdbc.AutoSave;

/**
 * The savepoints that the driver sets by itself with {@code autosave}. They would move our locks
 * into subtransactions, and with {@code cleanupSavepoints} their release destroys ours.
 */
final class DriverAutosave {
  private DriverAutosave() {}

  /** Runs statements around which the driver sets no savepoints; then it does as before. */
  static <T extends @Nullable Object> T without(
      Connection connection, BorrowedConnection.Work<T> work) throws SQLException {
    if (!connection.isWrapperFor(PGConnection.class)) {
      return work.on(connection);
    }
    PGConnection driver = connection.unwrap(PGConnection.class);
    AutoSave before = driver.getAutosave();
    driver.setAutosave(AutoSave.NEVER);
    try {
      return work.on(connection);
    } finally {
      driver.setAutosave(before);
    }
  }
}
