package dev.lukko.jdbc;

import dev.lukko.jdbc.NamedSql.Values;
import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.ReleaseReply;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The node's verbs on one connection, blocking. A null asks for another attempt. */
interface Verbs {
  /** What counts as for ever, so that sums of times stay far from the end of the numbers. */
  long MAX_TTL_MILLIS = 100L * 365 * 24 * 3600 * 1000;

  /** For a statement without parameters. */
  Values NOTHING = new Values(List.of(), "", 0, 0);

  @Nullable GrantReply grant(Session session, GrantRequest request) throws SQLException;

  @Nullable ConfirmReply confirm(Session session, LockEntry entry, long counter)
      throws SQLException;

  @Nullable ExtendReply extend(Session session, LockEntry entry, long ttlMillis)
      throws SQLException;

  @Nullable ExtendReply repair(
      Session session, LockEntry entry, long ttlMillis, long counter, long lastMillis)
      throws SQLException;

  @Nullable ReleaseReply release(Session session, LockEntry entry) throws SQLException;

  /** The database's clock in milliseconds since 1970. */
  static long nowMillis(Session session) throws SQLException {
    NamedSql sql = session.statements().get(Statements.NOW);
    try (ResultSet rows = sql.bind(session, NOTHING).executeQuery()) {
      rows.next();
      return Math.floorDiv(rows.getLong(1), 1_000L);
    }
  }

  static Values values(LockEntry entry, long ttlMillis, long counter) {
    long ttlMicros = Math.min(ttlMillis, MAX_TTL_MILLIS) * 1_000L;
    return new Values(
        entry.resources(), entry.owner(), ttlMicros, counter, Long.MAX_VALUE, entry.seen());
  }
}
