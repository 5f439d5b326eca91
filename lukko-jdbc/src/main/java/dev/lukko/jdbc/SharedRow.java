package dev.lukko.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Objects;

/**
 * A reader's entry that lives.
 *
 * @param livesMicros how long it lives on, in microseconds by the database's clock
 * @param grantCounter what it was granted with
 * @param ttlMicros how much time it was given; zero if that is not known
 * @param sound whether its numbers are such; if not, it keeps writers out and serves nobody
 */
record SharedRow(
    String name, String owner, long livesMicros, long grantCounter, long ttlMicros, boolean sound) {

  /** Reads the columns of {@link Statements#SHARED_READ}. */
  static SharedRow read(DialectTraits traits, ResultSet rows) throws SQLException {
    return new SharedRow(
        Objects.requireNonNull(traits.getText(rows, 4)),
        Objects.requireNonNullElse(traits.getText(rows, 1), ""), // whoever it is, somebody's
        rows.getLong(2),
        rows.getLong(3),
        rows.getLong(5),
        rows.getInt(6) != 0);
  }

  /** Whether the entry claims more time than it was given: the database's clock went back. */
  boolean isOverlong() {
    return sound && ttlMicros > 0 && livesMicros > ttlMicros;
  }
}
