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

/**
 * The verbs for an exclusive entry of one resource, as nearly all are: one conditional write, which
 * is atomic by itself, so that no transaction stays open while a client is paused.
 *
 * <p>On PostgreSQL the same statement returns what stands in the way. Elsewhere the row is read
 * after the write. That costs nothing in safety: the owner is unique, and its requests run one
 * after the other, so a row that names it tells the outcome of its own write.
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
    Outcome outcome = write(session, values, Statements.GRANT, Statements.GRANT_OR_READ);
    Long counter = outcome.counter();
    if (counter != null) {
      return new GrantReply.Granted(counter);
    }
    GrantReply reply = Decisions.grant(slots(session, outcome, entry));
    if (reply != null || !outcome.isAbsent() || !insert(session, values)) {
      return reply;
    }
    return new GrantReply.Granted(request.proposal());
  }

  @Override
  public @Nullable ConfirmReply confirm(Session session, LockEntry entry, long counter)
      throws SQLException {
    Values values = Verbs.values(entry, 0, counter);
    Outcome outcome = write(session, values, Statements.CONFIRM, Statements.CONFIRM_OR_READ);
    return outcome.isWritten()
        ? new ConfirmReply.Confirmed()
        : Decisions.confirm(slots(session, outcome, entry), counter);
  }

  @Override
  public @Nullable ExtendReply extend(Session session, LockEntry entry, long ttlMillis)
      throws SQLException {
    Values values = Verbs.values(entry, ttlMillis, 0);
    Outcome outcome = write(session, values, Statements.EXTEND, Statements.EXTEND_OR_READ);
    return outcome.isWritten()
        ? new ExtendReply.Extended()
        : Decisions.extend(slots(session, outcome, entry));
  }

  @Override
  public @Nullable ExtendReply repair(
      Session session, LockEntry entry, long ttlMillis, long counter) throws SQLException {
    Values values = Verbs.values(entry, ttlMillis, counter);
    Outcome outcome = write(session, values, Statements.REPAIR, Statements.REPAIR_OR_READ);
    if (outcome.isWritten()) {
      return new ExtendReply.Extended();
    }
    ExtendReply reply = Decisions.repair(slots(session, outcome, entry));
    if (reply != null || !outcome.isAbsent() || !insert(session, values)) {
      return reply;
    }
    return new ExtendReply.Extended();
  }

  @Override
  public ReleaseReply release(Session session, LockEntry entry) throws SQLException {
    Values values = Verbs.values(entry, 0, 0);
    session.enterDoubt();
    boolean released;
    if (notifications && session.isPostgres()) {
      NamedSql sql = session.statements().get(Statements.RELEASE_AND_NOTIFY);
      try (ResultSet rows = sql.bind(session, values).executeQuery()) {
        released = rows.next();
      }
    } else {
      released = session.statements().get(Statements.RELEASE).update(session, values) > 0;
    }
    session.leaveDoubt();
    return released ? new ReleaseReply.Released() : new ReleaseReply.NotHeld();
  }

  private static Outcome write(Session session, Values values, String update, String updateOrRead)
      throws SQLException {
    session.enterDoubt();
    Outcome outcome =
        session.isPostgres()
            ? writeOrRead(session, values, updateOrRead)
            : writeThenRead(session, values, update);
    session.leaveDoubt();
    return outcome;
  }

  private static Outcome writeOrRead(Session session, Values values, String text)
      throws SQLException {
    NamedSql sql = session.statements().get(text);
    try (ResultSet rows = sql.bind(session, values).executeQuery()) {
      if (!rows.next()) {
        return Outcome.NOTHING;
      }
      return rows.getBoolean(7)
          ? new Outcome(true, rows.getLong(4), null)
          : new Outcome(false, null, LockRow.read(session.traits(), rows, values.names().get(0)));
    }
  }

  private static Outcome writeThenRead(Session session, Values values, String text)
      throws SQLException {
    boolean written = session.statements().get(text).update(session, values) > 0;
    if (written && !text.equals(Statements.GRANT)) {
      return new Outcome(true, null, null);
    }
    if (!written) {
      session.leaveDoubt();
    }
    return new Outcome(written, null, read(session, values));
  }

  static @Nullable LockRow read(Session session, Values values) throws SQLException {
    NamedSql sql = session.statements().get(Statements.READ);
    try (ResultSet rows = sql.bind(session, values).executeQuery()) {
      return rows.next() ? LockRow.read(session.traits(), rows, values.names().get(0)) : null;
    }
  }

  /** Creates the row; false if another client has just done it. */
  private static boolean insert(Session session, Values values) throws SQLException {
    if (session.isPostgres()) {
      return false; // The one statement inserts by itself; its snapshot was too old to see the row.
    }
    session.enterDoubt();
    try {
      session.statements().get(Statements.INSERT).update(session, values);
    } catch (SQLException failure) {
      if (session.traits().isDuplicate(failure)) {
        session.leaveDoubt();
        return false;
      }
      throw failure;
    }
    session.leaveDoubt();
    return true;
  }

  private static List<Slot> slots(Session session, Outcome outcome, LockEntry entry)
      throws SQLException {
    LockRow row = outcome.row();
    if (row == null) {
      return List.of(Slot.missing(entry.resources().get(0)));
    }
    List<SharedRow> shared =
        row.isHeld() || row.sharedLivesMicros() <= 0
            ? List.of()
            : LockedVerbs.readShared(session, Verbs.values(entry, 0, 0));
    return List.of(Slot.of(row, shared, entry));
  }

  /**
   * What became of a write.
   *
   * @param counter the resource's counter after it, if the write told
   * @param row the row as it was read, or null
   */
  private record Outcome(boolean isWritten, @Nullable Long counter, @Nullable LockRow row) {
    static final Outcome NOTHING = new Outcome(false, null, null);

    boolean isAbsent() {
      return row == null;
    }
  }
}
