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
    boolean written = false;
    if (session.isPostgres()) {
      OptionalLong counter = returned(session, values);
      if (counter.isPresent()) {
        return new GrantReply.Granted(counter.getAsLong());
      }
      session.leaveDoubt();
    } else {
      written = hasWritten(session, Statements.GRANT, values, RecordCheck.VOTING);
      if (!written) {
        session.leaveDoubt();
      }
    }
    LockRow row = read(session, values, RecordCheck.VOTING);
    session.leaveDoubt();
    if (row == null && inserted(session, values)) {
      return new GrantReply.Granted(request.proposal());
    }
    if (row == null || (!written && !row.asSeen())) {
      return FleetTable.refusal(session, entry, RecordCheck.VOTING);
    }
    return Decisions.grant(slots(session, row, entry), false);
  }

  private static OptionalLong returned(Session session, Values values) throws SQLException {
    NamedSql sql =
        session.statements().get(Statements.GRANT_RETURNING, 1, RecordCheck.VOTING.of(values));
    try (ResultSet rows = sql.bind(session, values).executeQuery()) {
      return rows.next() ? OptionalLong.of(rows.getLong(1)) : OptionalLong.empty();
    }
  }

  @Override
  public @Nullable ConfirmReply confirm(Session session, LockEntry entry, long counter)
      throws SQLException {
    Values values = Verbs.values(entry, 0, counter);
    if (written(session, Statements.CONFIRM, values, RecordCheck.SAME)) {
      return new ConfirmReply.Confirmed();
    }
    LockRow row = read(session, values, RecordCheck.SAME);
    return row == null || row.asSeen()
        ? Decisions.confirm(slots(session, row, entry), false, counter)
        : FleetTable.refusal(session, entry, RecordCheck.SAME);
  }

  @Override
  public @Nullable ExtendReply extend(Session session, LockEntry entry, long ttlMillis)
      throws SQLException {
    Values values = Verbs.values(entry, ttlMillis, 0);
    if (written(session, Statements.EXTEND, values, RecordCheck.SAME)) {
      return new ExtendReply.Extended();
    }
    LockRow row = read(session, values, RecordCheck.SAME);
    return row == null || row.asSeen()
        ? Decisions.extend(slots(session, row, entry), () -> Verbs.nowMillis(session))
        : FleetTable.refusal(session, entry, RecordCheck.SAME);
  }

  @Override
  public @Nullable ExtendReply repair(
      Session session, LockEntry entry, long ttlMillis, long counter, long lastMillis)
      throws SQLException {
    Values values = Verbs.values(entry, ttlMillis, counter).upTo(lastMillis);
    if (written(session, Statements.REPAIR, values, RecordCheck.SAME)) {
      return new ExtendReply.Extended();
    }
    LockRow row = read(session, values, RecordCheck.SAME);
    if (row != null && !row.asSeen()) {
      return FleetTable.refusal(session, entry, RecordCheck.SAME);
    }
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
      released = written(session, Statements.RELEASE, values, RecordCheck.NONE);
    }
    return released ? new ReleaseReply.Released() : new ReleaseReply.NotHeld();
  }

  private static boolean written(Session session, String text, Values values, RecordCheck check)
      throws SQLException {
    session.enterDoubt();
    boolean written = hasWritten(session, text, values, check);
    session.leaveDoubt();
    return written;
  }

  private static boolean hasWritten(Session session, String text, Values values, RecordCheck check)
      throws SQLException {
    return session.statements().get(text, 1, check.of(values)).update(session, values) > 0;
  }

  static @Nullable LockRow read(Session session, Values values, RecordCheck check)
      throws SQLException {
    NamedSql sql = session.statements().get(Statements.READ, 1, check.of(values));
    try (ResultSet rows = sql.bind(session, values).executeQuery()) {
      return rows.next() ? LockRow.read(session.traits(), rows, values.names().get(0)) : null;
    }
  }

  /** Creates the row; false if another client has just done it, or the record does not allow it. */
  private static boolean inserted(Session session, Values values) throws SQLException {
    session.enterDoubt();
    try {
      return hasWritten(session, Statements.INSERT, values, RecordCheck.VOTING);
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
