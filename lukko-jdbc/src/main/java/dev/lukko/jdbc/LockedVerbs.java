package dev.lukko.jdbc;

import dev.lukko.jdbc.NamedSql.Values;
import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.NotVoting;
import dev.lukko.spi.ReleaseReply;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The verbs for several resources and for readers: one short transaction that locks the resources'
 * rows in sorted order, looks, and writes all or nothing.
 *
 * <p>Rows that do not exist cannot be locked, and two transactions that insert what the other waits
 * for block each other; so missing rows are created before, each by itself, and stay for the next
 * one. Whoever writes readers' rows has locked the resource's row, so that one lock guards both.
 */
final class LockedVerbs implements Verbs {
  private static final System.Logger LOG = System.getLogger(LockedVerbs.class.getName());

  private final boolean notifications;

  LockedVerbs(boolean notifications) {
    this.notifications = notifications;
  }

  @Override
  public @Nullable GrantReply grant(Session session, GrantRequest request) throws SQLException {
    LockEntry entry = request.entry();
    return LockedVerbs.<GrantReply>inTransaction(
        session,
        entry,
        true,
        RecordCheck.VOTING,
        fault -> fault,
        slots -> {
          GrantReply reply = Decisions.grant(slots, entry.shared());
          if (reply != null) {
            return reply;
          }
          long counter = Decisions.nextCounter(slots, entry, request.proposal());
          Values values = Verbs.values(entry, request.ttlMillis(), counter);
          if (entry.shared()) {
            run(session, Statements.SHARED_DELETE, values);
            insertShared(session, values, entry.resources());
            run(session, Statements.COUNTERS_TO_READERS, values);
          }
          String last = entry.shared() ? Statements.SHARED_UNTIL : Statements.GRANT_ROWS;
          return wroteLast(session, last, values, RecordCheck.VOTING)
              ? new GrantReply.Granted(counter)
              : null;
        });
  }

  @Override
  public @Nullable ConfirmReply confirm(Session session, LockEntry entry, long counter)
      throws SQLException {
    return LockedVerbs.<ConfirmReply>inTransaction(
        session,
        entry,
        false,
        RecordCheck.SAME,
        fault -> fault,
        slots -> {
          ConfirmReply reply = Decisions.confirm(slots, entry.shared(), counter);
          if (reply != null) {
            return reply;
          }
          String last = entry.shared() ? Statements.COUNTERS_TO_READERS : Statements.CONFIRM_ROWS;
          return wroteLast(session, last, Verbs.values(entry, 0, counter), RecordCheck.SAME)
              ? new ConfirmReply.Confirmed()
              : null;
        });
  }

  @Override
  public @Nullable ExtendReply extend(Session session, LockEntry entry, long ttlMillis)
      throws SQLException {
    return LockedVerbs.<ExtendReply>inTransaction(
        session,
        entry,
        false,
        RecordCheck.SAME,
        fault -> fault,
        slots -> {
          ExtendReply reply = Decisions.extend(slots, () -> Verbs.nowMillis(session));
          if (reply != null) {
            return reply;
          }
          Values values = Verbs.values(entry, ttlMillis, 0);
          if (entry.shared()) {
            run(session, Statements.SHARED_EXTEND, values);
          }
          String last = entry.shared() ? Statements.SHARED_UNTIL : Statements.EXTEND_ROWS;
          return wroteLast(session, last, values, RecordCheck.SAME)
              ? new ExtendReply.Extended()
              : null;
        });
  }

  @Override
  public @Nullable ExtendReply repair(
      Session session, LockEntry entry, long ttlMillis, long counter, long lastMillis)
      throws SQLException {
    return LockedVerbs.<ExtendReply>inTransaction(
        session,
        entry,
        true,
        RecordCheck.SAME,
        fault -> fault,
        slots -> {
          // From here to the commit the rows are locked, and a release waits behind them.
          ExtendReply reply = Decisions.repair(slots, Verbs.nowMillis(session), lastMillis);
          if (reply != null) {
            return reply;
          }
          Values values = Verbs.values(entry, ttlMillis, counter);
          if (entry.shared()) {
            repairShared(session, values, slots);
          }
          String last = entry.shared() ? Statements.SHARED_UNTIL : Statements.REPAIR_ROWS;
          return wroteLast(session, last, values, RecordCheck.SAME)
              ? new ExtendReply.Extended()
              : null;
        });
  }

  private static void repairShared(Session session, Values values, List<Slot> slots)
      throws SQLException {
    List<String> missing = new ArrayList<>();
    for (Slot slot : slots) {
      if (!slot.mine()) {
        missing.add(slot.name());
      }
    }
    run(session, Statements.SHARED_EXTEND, values);
    if (!missing.isEmpty()) {
      run(session, Statements.SHARED_DELETE, values.withNames(missing));
      insertShared(session, values, missing);
    }
    run(session, Statements.COUNTERS_TO_AT_LEAST, values);
  }

  @Override
  public @Nullable ReleaseReply release(Session session, LockEntry entry) throws SQLException {
    return LockedVerbs.<ReleaseReply>inTransaction(
        session,
        entry,
        false,
        RecordCheck.NONE,
        fault -> fault,
        slots -> {
          List<String> held = slots.stream().filter(Slot::mine).map(Slot::name).toList();
          Values values = Verbs.values(entry, 0, 0);
          if (entry.shared()) {
            run(session, Statements.SHARED_DELETE, values);
            run(session, Statements.SHARED_UNTIL, values);
          } else {
            run(session, Statements.RELEASE_ROWS, values);
          }
          if (notifications && session.isPostgres()) {
            for (String name : held) {
              announce(session, values.withNames(List.of(name)));
            }
          }
          return held.size() < slots.size()
              ? new ReleaseReply.NotHeld()
              : new ReleaseReply.Released();
        });
  }

  private interface Step<T> {
    /** The reply; null if nothing may be written, since the record is no longer as it was seen. */
    @Nullable T apply(List<Slot> slots) throws SQLException;
  }

  /**
   * Runs a step with all rows locked; null if a row had to be created first.
   *
   * @param creating whether rows that do not exist have to be created
   * @param check what is compared of the fleet's record: once with the rows, and in the step's last
   *     write, after which it cannot change before the commit
   * @param refused makes a reply of a refusal for the record's sake
   */
  private static <T> @Nullable T inTransaction(
      Session session,
      LockEntry entry,
      boolean creating,
      RecordCheck check,
      Function<NotVoting, T> refused,
      Step<T> step)
      throws SQLException {
    List<String> missing = new ArrayList<>();
    boolean asSeen;
    try {
      session.begin();
      List<Slot> slots = new ArrayList<>();
      asSeen = lock(session, entry, check, slots, missing);
      if (asSeen && (missing.isEmpty() || !creating)) {
        T reply = step.apply(slots);
        if (reply != null) {
          session.commit();
          return reply;
        }
        asSeen = false;
      }
      session.rollback();
    } catch (SQLException | RuntimeException failure) {
      session.abandon(failure);
      throw failure;
    }
    if (!asSeen) {
      NotVoting refusal = FleetTable.refusal(session, entry, check);
      return refusal == null ? null : refused.apply(refusal);
    }
    for (String name : missing) {
      createFree(session, name);
    }
    return null;
  }

  /** Locks the rows, and reads them into the slots; whether the record is as it was seen. */
  private static boolean lock(
      Session session, LockEntry entry, RecordCheck check, List<Slot> slots, List<String> missing)
      throws SQLException {
    Values all = Verbs.values(entry, 0, 0);
    List<LockRow> rows = lockRows(session, all, check);
    List<SharedRow> shared = readers(session, entry, rows, all);
    if (rows.stream().anyMatch(LockRow::isOverlong)
        || shared.stream().anyMatch(SharedRow::isOverlong)) {
      shorten(session, all);
      rows = lockRows(session, all, check);
      shared = readers(session, entry, rows, all);
    }
    for (String name : all.names()) {
      LockRow row = rows.stream().filter(some -> some.name().equals(name)).findFirst().orElse(null);
      if (row == null) {
        missing.add(name);
        slots.add(Slot.missing(name));
      } else {
        List<SharedRow> readers = shared.stream().filter(some -> some.name().equals(name)).toList();
        slots.add(Slot.of(row, readers, entry));
      }
    }
    return rows.stream().allMatch(LockRow::asSeen);
  }

  /**
   * Lets entries that claim more time than they were given end when that is over, from now on. The
   * rows of the resources are locked.
   */
  private static void shorten(Session session, Values all) throws SQLException {
    LOG.log(
        System.Logger.Level.WARNING,
        "an entry for one of {0} claims more time than it was given: the database''s clock went back;"
            + " it ends when its ttl has passed from now on",
        all.names());
    run(session, Statements.SHORTEN, all);
    run(session, Statements.SHORTEN_SHARED, all);
    run(session, Statements.SHARED_UNTIL, all);
  }

  /** The same in a transaction of its own; what is stored afterwards. */
  static @Nullable List<Slot> shortened(Session session, LockEntry entry) throws SQLException {
    return LockedVerbs.<List<Slot>>inTransaction(
        session, entry, false, RecordCheck.NONE, fault -> List.of(), slots -> slots);
  }

  private static List<LockRow> lockRows(Session session, Values all, RecordCheck check)
      throws SQLException {
    List<LockRow> rows = new ArrayList<>();
    int batch = session.traits().lockBatch();
    for (int from = 0; from < all.names().size(); from += batch) {
      int to = Math.min(all.names().size(), from + batch);
      lockSome(session, all.withNames(all.names().subList(from, to)), check, rows);
    }
    return rows;
  }

  private static List<SharedRow> readers(
      Session session, LockEntry entry, List<LockRow> rows, Values all) throws SQLException {
    return entry.shared() || rows.stream().anyMatch(row -> row.sharedLivesMicros() > 0)
        ? readShared(session, all)
        : List.of();
  }

  private static void lockSome(
      Session session, Values values, RecordCheck check, List<LockRow> into) throws SQLException {
    NamedSql sql =
        session.statements().get(Statements.LOCK_ROWS, values.names().size(), check.of(values));
    try (ResultSet rows = sql.bind(session, values).executeQuery()) {
      while (rows.next()) {
        String name = session.traits().getText(rows, 6);
        into.add(LockRow.read(session.traits(), rows, java.util.Objects.requireNonNull(name)));
      }
    }
  }

  static List<SharedRow> readShared(Session session, Values values) throws SQLException {
    NamedSql sql =
        session.statements().get(Statements.SHARED_READ, values.names().size(), RecordCheck.NONE);
    List<SharedRow> found = new ArrayList<>();
    try (ResultSet rows = sql.bind(session, values).executeQuery()) {
      while (rows.next()) {
        found.add(SharedRow.read(session.traits(), rows));
      }
    }
    return found;
  }

  private static void run(Session session, String text, Values values) throws SQLException {
    session.statements().get(text, values.names().size(), RecordCheck.NONE).update(session, values);
  }

  /** Makes the last write of a step; false if it has not written, for the record's sake. */
  private static boolean wroteLast(Session session, String text, Values values, RecordCheck check)
      throws SQLException {
    int names = values.names().size();
    return session.statements().get(text, names, check.of(values)).update(session, values) > 0;
  }

  private static void insertShared(Session session, Values values, List<String> names)
      throws SQLException {
    for (String name : names) {
      session
          .statements()
          .get(Statements.SHARED_INSERT)
          .update(session, values.withNames(List.of(name)));
    }
  }

  private static void announce(Session session, Values one) throws SQLException {
    NamedSql sql = session.statements().get(Statements.NOTIFY);
    try (ResultSet rows = sql.bind(session, one).executeQuery()) {
      rows.next();
    }
  }

  /** Creates a row that nobody holds; whoever was faster has done the same. */
  static void createFree(Session session, String name) throws SQLException {
    Values values = new Values(List.of(name), "", 0, 0);
    try {
      session.statements().get(Statements.INSERT_FREE).update(session, values);
    } catch (SQLException failure) {
      if (!session.traits().isDuplicate(failure)) {
        throw failure;
      }
    }
  }
}
