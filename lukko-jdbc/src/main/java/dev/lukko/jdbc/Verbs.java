package dev.lukko.jdbc;

import dev.lukko.jdbc.NamedSql.Values;
import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.ReleaseReply;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** The node's verbs on one connection, blocking. A null asks for another attempt. */
interface Verbs {
  /** What counts as for ever, so that sums of times stay far from the end of the numbers. */
  long MAX_TTL_MILLIS = 100L * 365 * 24 * 3600 * 1000;

  @Nullable GrantReply grant(Session session, GrantRequest request) throws SQLException;

  @Nullable ConfirmReply confirm(Session session, LockEntry entry, long counter)
      throws SQLException;

  @Nullable ExtendReply extend(Session session, LockEntry entry, long ttlMillis)
      throws SQLException;

  @Nullable ExtendReply repair(Session session, LockEntry entry, long ttlMillis, long counter)
      throws SQLException;

  @Nullable ReleaseReply release(Session session, LockEntry entry) throws SQLException;

  static Values values(LockEntry entry, long ttlMillis, long counter) {
    long ttlMicros = Math.min(ttlMillis, MAX_TTL_MILLIS) * 1_000L;
    return new Values(entry.resources(), entry.owner(), ttlMicros, counter);
  }
}
