package dev.lukko.jdbc;

import dev.lukko.Holder;
import dev.lukko.jdbc.NamedSql.Values;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.Inspection;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.OwnerValue;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/** Reads what a database has stored for a resource, and what it says of itself. */
final class Inspections {
  private Inspections() {}

  static Inspection read(Session session, String resource) throws SQLException {
    Values values = new Values(List.of(resource), "", 0, 0);
    LockRow row = SingleVerbs.read(session, values, RecordCheck.NONE);
    if (row != null) {
      List<SharedRow> readers = LockedVerbs.readShared(session, values);
      if (row.isOverlong() || readers.stream().anyMatch(SharedRow::isOverlong)) {
        LockedVerbs.shortened(session, LockEntry.exclusive(List.of(resource), "inspection"));
        row = SingleVerbs.read(session, values, RecordCheck.NONE);
      }
    }
    if (row == null) {
      return new Inspection(List.of(), OptionalLong.empty(), List.of());
    }
    if (row.counter() < 0 || row.counter() > GrantRequest.MAX_COUNTER) {
      throw new SQLException("the counter of \"" + resource + "\" holds garbage", "22000");
    }
    List<Holder> holders = new ArrayList<>();
    List<String> fingerprints = new ArrayList<>();
    String owner = row.owner();
    if (owner != null && row.isHeld()) {
      holders.add(OwnerValue.describe(owner, Slot.duration(row.livesMicros())));
      fingerprints.add(OwnerValue.fingerprint(owner));
    }
    for (SharedRow reader : LockedVerbs.readShared(session, values)) {
      holders.add(OwnerValue.describe(reader.owner(), Slot.duration(reader.livesMicros())));
      fingerprints.add(OwnerValue.fingerprint(reader.owner()));
    }
    // A row that was created and never granted has no counter yet.
    OptionalLong counter =
        row.counter() == 0 ? OptionalLong.empty() : OptionalLong.of(row.counter());
    return new Inspection(holders, counter, fingerprints);
  }

  /** The highest counter of all resources; zero if there is none. */
  static long highestCounter(Session session) throws SQLException {
    return DialectTraits.number(
        session.connection(), "SELECT COALESCE(MAX(counter), 0) FROM lukko_lock");
  }

  /**
   * Whether the database may vote, and its records. Its identity was drawn when the tables were
   * created: two addresses that lead to the same tables have the same one, and so has a replica.
   */
  static NodeStatus status(Session session) throws SQLException {
    FleetTable.Kept kept = FleetTable.read(session);
    List<String> unfit = DialectTraits.texts(session.connection(), session.traits().unfit());
    if (!unfit.isEmpty()) {
      session.leaveAfterwards();
      return new NodeStatus(
          NodeStatus.State.UNFIT,
          Optional.of(kept.identity()),
          String.join(", ", unfit),
          Duration.ZERO,
          warnings(session));
    }
    return NodeStatus.remembering(kept.identity(), warnings(session), Set.of(), kept.memory());
  }

  private static List<String> warnings(Session session) throws SQLException {
    List<String> found =
        new ArrayList<>(DialectTraits.texts(session.connection(), session.traits().warnings()));
    Statements statements = session.statements();
    long overlong =
        DialectTraits.number(session.connection(), statements.inDialect(Statements.COUNT_OVERLONG))
            + DialectTraits.number(
                session.connection(), statements.inDialect(Statements.COUNT_OVERLONG_SHARED));
    if (overlong > 0) {
      found.add(
          overlong
              + (overlong == 1 ? " entry claims" : " entries claim")
              + " more time than was given: the database's clock went back; each ends when its ttl"
              + " has passed from the next request for it on");
    }
    return found;
  }
}
