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
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The verbs for an exclusive entry of one resource, as nearly all are: one conditional write, which
 * is atomic by itself, so that no transaction stays open while a client is paused. Only if it wrote
 * nothing is the row read, to tell why.
 *
 * <p>Databases that cannot return what they wrote need that read for the number of a grant, too.
 * That costs nothing in safety: the owner is unique, and its requests run one after the other, so a
 * row that names it tells the outcome of its own write.
 *
 * <p>A result of null means that what was read does not explain why nothing was written: somebody
 * changed the row in between, and the request is tried again.
 */
final class SingleVerbs implements Verbs {
  private final boolean notifications;

  SingleVerbs(boolean notifications) {
    this.notifications = notifications;
  }

  @Override
  public @Nullable GrantReply grant(Session session, GrantRequest request) throws SQLException {
    LockEntry entry = request.entry();
    Values values = Verbs.values(entry, request.ttlMillis(), request.proposal());
    session.enterDoubt();
    if (session.isPostgres()) {
      OptionalLong counter = returned(session, values);
      if (counter.isPresent()) {
        return new GrantReply.Granted(counter.getAsLong());
      }
      session.leaveDoubt();
    } else if (!hasWritten(session, Statements.GRANT, values)) {
      session.leaveDoubt();
    }
    LockRow row = read(session, values);
    session.leaveDoubt();
    if (row == null) {
      return inserted(session, values) ? new GrantReply.Granted(request.proposal()) : null;
    }
    return Decisions.grant(slots(session, row, entry), false);
  }

  private static OptionalLong returned(Session session, Values values) throws SQLException {
    NamedSql sql = session.statements().get(Statements.GRANT_RETURNING);
    try (ResultSet rows = sql.bind(session, values).executeQuery()) {
      return rows.next() ? OptionalLong.of(rows.getLong(1)) : OptionalLong.empty();
    }
  }

  @Override
  public @Nullable ConfirmReply confirm(Session session, LockEntry entry, long counter)
      throws SQLException {
    Values values = Verbs.values(entry, 0, counter);
    if (written(session, Statements.CONFIRM, values)) {
      return new ConfirmReply.Confirmed();
    }
    return Decisions.confirm(slots(session, read(session, values), entry), false, counter);
  }

  @Override
  public @Nullable ExtendReply extend(Session session, LockEntry entry, long ttlMillis)
      throws SQLException {
    Values values = Verbs.values(entry, ttlMillis, 0);
    if (written(session, Statements.EXTEND, values)) {
      return new ExtendReply.Extended();
    }
    return Decisions.extend(
        slots(session, read(session, values), entry), () -> Verbs.nowMillis(session));
  }

  @Override
  public @Nullable ExtendReply repair(
      Session session, LockEntry entry, long ttlMillis, long counter, long lastMillis)
      throws SQLException {
    Values values = Verbs.values(entry, ttlMillis, counter).upTo(lastMillis);
    if (written(session, Statements.REPAIR, values)) {
      return new ExtendReply.Extended();
    }
    LockRow row = read(session, values);
    long nowMillis = Verbs.nowMillis(session);
    if (row == null && nowMillis <= lastMillis) {
      LockedVerbs.createFree(session, entry.resources().get(0)); // for the one conditional write
      return null;
    }
    return Decisions.repair(slots(session, row, entry), nowMillis, lastMillis);
  }

  @Override
  public ReleaseReply release(Session session, LockEntry entry) throws SQLException {
    Values values = Verbs.values(entry, 0, 0);
    boolean released;
    if (notifications && session.isPostgres()) {
      session.enterDoubt();
      NamedSql sql = session.statements().get(Statements.RELEASE_AND_NOTIFY);
      try (ResultSet rows = sql.bind(session, values).executeQuery()) {
        released = rows.next();
      }
      session.leaveDoubt();
    } else {
      released = written(session, Statements.RELEASE, values);
    }
    return released ? new ReleaseReply.Released() : new ReleaseReply.NotHeld();
  }

  private static boolean written(Session session, String text, Values values) throws SQLException {
    session.enterDoubt();
    boolean written = hasWritten(session, text, values);
    session.leaveDoubt();
    return written;
  }

  private static boolean hasWritten(Session session, String text, Values values)
      throws SQLException {
    return session.statements().get(text).update(session, values) > 0;
  }

  static @Nullable LockRow read(Session session, Values values) throws SQLException {
    NamedSql sql = session.statements().get(Statements.READ);
    try (ResultSet rows = sql.bind(session, values).executeQuery()) {
      return rows.next() ? LockRow.read(session.traits(), rows, values.names().get(0)) : null;
    }
  }

  /** Creates the row; false if another client has just done it. */
  private static boolean inserted(Session session, Values values) throws SQLException {
    session.enterDoubt();
    try {
      return hasWritten(session, Statements.INSERT, values);
    } catch (SQLException failure) {
      if (session.traits().isDuplicate(failure)) {
        return false;
      }
      throw failure;
    }
  }

  private static List<Slot> slots(Session session, @Nullable LockRow row, LockEntry entry)
      throws SQLException {
    if (row == null) {
      return List.of(Slot.missing(entry.resources().get(0)));
    }
    List<SharedRow> shared =
        row.isHeld() || row.sharedLivesMicros() <= 0
            ? List.of()
            : LockedVerbs.readShared(session, Verbs.values(entry, 0, 0));
    if (row.isOverlong() || shared.stream().anyMatch(SharedRow::isOverlong)) {
      List<Slot> shortened = LockedVerbs.shortened(session, entry);
      if (shortened != null) {
        return shortened;
      }
    }
    return List.of(Slot.of(row, shared, entry));
  }
}
