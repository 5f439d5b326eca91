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
import java.util.ArrayList;
import java.util.List;
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
    return inTransaction(
        session,
        entry,
        true,
        slots -> {
          GrantReply reply = Decisions.grant(slots, entry.shared());
          if (reply != null) {
            return reply;
          }
          long counter = Decisions.nextCounter(slots, entry.shared(), request.proposal());
          Values values = Verbs.values(entry, request.ttlMillis(), counter);
          if (entry.shared()) {
            run(session, Statements.SHARED_DELETE, values);
            insertShared(session, values, entry.resources());
            run(session, Statements.COUNTERS_TO_READERS, values);
            run(session, Statements.SHARED_UNTIL, values);
          } else {
            run(session, Statements.GRANT_ROWS, values);
          }
          return new GrantReply.Granted(counter);
        });
  }

  @Override
  public @Nullable ConfirmReply confirm(Session session, LockEntry entry, long counter)
      throws SQLException {
    return inTransaction(
        session,
        entry,
        false,
        slots -> {
          ConfirmReply reply = Decisions.confirm(slots, entry.shared(), counter);
          if (reply != null) {
            return reply;
          }
          run(
              session,
              entry.shared() ? Statements.COUNTERS_TO_READERS : Statements.CONFIRM_ROWS,
              Verbs.values(entry, 0, counter));
          return new ConfirmReply.Confirmed();
        });
  }

  @Override
  public @Nullable ExtendReply extend(Session session, LockEntry entry, long ttlMillis)
      throws SQLException {
    return inTransaction(
        session,
        entry,
        false,
        slots -> {
          ExtendReply reply = Decisions.extend(slots, () -> Verbs.nowMillis(session));
          if (reply != null) {
            return reply;
          }
          Values values = Verbs.values(entry, ttlMillis, 0);
          if (entry.shared()) {
            run(session, Statements.SHARED_EXTEND, values);
            run(session, Statements.SHARED_UNTIL, values);
          } else {
            run(session, Statements.EXTEND_ROWS, values);
          }
          return new ExtendReply.Extended();
        });
  }

  @Override
  public @Nullable ExtendReply repair(
      Session session, LockEntry entry, long ttlMillis, long counter, long lastMillis)
      throws SQLException {
    return inTransaction(
        session,
        entry,
        true,
        slots -> {
          // From here to the commit the rows are locked, and a release waits behind them.
          ExtendReply reply = Decisions.repair(slots, Verbs.nowMillis(session), lastMillis);
          if (reply != null) {
            return reply;
          }
          Values values = Verbs.values(entry, ttlMillis, counter);
          if (entry.shared()) {
            repairShared(session, values, slots);
          } else {
            run(session, Statements.REPAIR_ROWS, values);
          }
          return new ExtendReply.Extended();
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
    run(session, Statements.SHARED_UNTIL, values);
  }

  @Override
  public @Nullable ReleaseReply release(Session session, LockEntry entry) throws SQLException {
    return inTransaction(
        session,
        entry,
        false,
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
    T apply(List<Slot> slots) throws SQLException;
  }

  /**
   * Runs a step with all rows locked; null if a row had to be created first.
   *
   * @param creating whether rows that do not exist have to be created
   */
  private static <T> @Nullable T inTransaction(
      Session session, LockEntry entry, boolean creating, Step<T> step) throws SQLException {
    List<String> missing = new ArrayList<>();
    DialectTraits traits = session.traits();
    try {
      session.begin();
      List<Slot> slots = lock(session, entry, missing);
      if (missing.isEmpty() || !creating) {
        T reply = step.apply(slots);
        session.beforeStatement();
        session.enterDoubt();
        traits.commit(session.connection());
        session.leaveDoubt();
        return reply;
      }
      session.beforeStatement();
      traits.rollback(session.connection());
    } catch (SQLException | RuntimeException failure) {
      abandon(session, failure);
      throw failure;
    }
    for (String name : missing) {
      createFree(session, name);
    }
    return null;
  }

  private static void abandon(Session session, Exception failure) {
    try {
      session.beforeStatement();
      session.traits().rollback(session.connection());
    } catch (SQLException | RuntimeException second) {
      failure.addSuppressed(second);
      session.markBroken();
    }
  }

  private static List<Slot> lock(Session session, LockEntry entry, List<String> missing)
      throws SQLException {
    Values all = Verbs.values(entry, 0, 0);
    List<LockRow> rows = lockRows(session, all);
    List<SharedRow> shared = readers(session, entry, rows, all);
    if (rows.stream().anyMatch(LockRow::isOverlong)
        || shared.stream().anyMatch(SharedRow::isOverlong)) {
      shorten(session, all);
      rows = lockRows(session, all);
      shared = readers(session, entry, rows, all);
    }
    List<Slot> slots = new ArrayList<>();
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
    return slots;
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
    return inTransaction(session, entry, false, slots -> slots);
  }

  private static List<LockRow> lockRows(Session session, Values all) throws SQLException {
    List<LockRow> rows = new ArrayList<>();
    int batch = session.traits().lockBatch();
    for (int from = 0; from < all.names().size(); from += batch) {
      int to = Math.min(all.names().size(), from + batch);
      lockSome(session, all.withNames(all.names().subList(from, to)), rows);
    }
    return rows;
  }

  private static List<SharedRow> readers(
      Session session, LockEntry entry, List<LockRow> rows, Values all) throws SQLException {
    return entry.shared() || rows.stream().anyMatch(row -> row.sharedLivesMicros() > 0)
        ? readShared(session, all)
        : List.of();
  }

  private static void lockSome(Session session, Values values, List<LockRow> into)
      throws SQLException {
    NamedSql sql = session.statements().get(Statements.LOCK_ROWS, values.names().size());
    try (ResultSet rows = sql.bind(session, values).executeQuery()) {
      while (rows.next()) {
        String name = session.traits().getText(rows, 6);
        into.add(LockRow.read(session.traits(), rows, java.util.Objects.requireNonNull(name)));
      }
    }
  }

  static List<SharedRow> readShared(Session session, Values values) throws SQLException {
    NamedSql sql = session.statements().get(Statements.SHARED_READ, values.names().size());
    List<SharedRow> found = new ArrayList<>();
    try (ResultSet rows = sql.bind(session, values).executeQuery()) {
      while (rows.next()) {
        found.add(SharedRow.read(session.traits(), rows));
      }
    }
    return found;
  }

  private static void run(Session session, String text, Values values) throws SQLException {
    session.statements().get(text, values.names().size()).update(session, values);
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
