package dev.lukko.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * Work that is to be done once for an idempotency key.
 *
 * @param <X> what it may throw besides {@link SQLException}
 */
@FunctionalInterface
public interface IdempotentWork<X extends Throwable> {

  /**
   * Does the work in the connection's open transaction, which it must neither commit nor roll back.
   *
   * @return the result, which repeats will get: text of any length, or null
   */
  @Nullable String run(Connection connection) throws SQLException, X;
}
