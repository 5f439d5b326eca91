package dev.lukko.jdbc;

import dev.lukko.Holder;
import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.Failed;
import dev.lukko.spi.FleetRecord;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a node answers, given what is stored: rows in, reply out; null means that the request has to
 * be written.
 */
final class Decisions {
  private Decisions() {}

  static @Nullable GrantReply grant(List<Slot> slots, boolean shared) {
    Failed garbage = garbage(slots);
    if (garbage != null) {
      return garbage;
    }
    Holder other = firstOther(slots);
    if (other != null) {
      return new GrantReply.Refused(highest(slots), other);
    }
    if (slots.stream().allMatch(Slot::mine)) {
      return new GrantReply.Granted(slots.stream().mapToLong(Slot::grantCounter).max().getAsLong());
    }
    if (highest(slots) == GrantRequest.MAX_COUNTER && !(shared && isJoinable(slots))) {
      return new Failed(
          "counter exhausted: it is at " + GrantRequest.MAX_COUNTER + " and cannot rise");
    }
    return null;
  }

  /** The number that all resources get with a grant. */
  static long nextCounter(List<Slot> slots, LockEntry entry, long proposal) {
    long highest = highest(slots);
    boolean joins =
        entry.shared() && highest > FleetRecord.floorOf(entry.seen()) && isJoinable(slots);
    return joins ? highest : Math.max(proposal, highest + 1);
  }

  /** Whether a reader may have the highest counter's number, as other readers have. */
  private static boolean isJoinable(List<Slot> slots) {
    long highest = highest(slots);
    return slots.stream().allMatch(slot -> slot.counter() < highest || slot.givenToReader());
  }

  /**
   * For an exclusive owner no counter may be above the number; for a reader it must not be below
   * what its grant got.
   */
  static @Nullable ConfirmReply confirm(List<Slot> slots, boolean shared, long counter) {
    Failed garbage = garbage(slots);
    if (garbage != null) {
      return garbage;
    }
    if (!slots.stream().allMatch(Slot::mine)) {
      return new ConfirmReply.NotHeld();
    }
    long lowest =
        shared ? slots.stream().mapToLong(Slot::grantCounter).max().getAsLong() : highest(slots);
    if (lowest > counter) {
      return new ConfirmReply.Higher(lowest);
    }
    return slots.stream().allMatch(slot -> slot.counter() >= counter)
        ? new ConfirmReply.Confirmed()
        : null;
  }

  /** The database's clock, which is asked for only where it matters. */
  interface Clock {
    long nowMillis() throws SQLException;
  }

  static @Nullable ExtendReply extend(List<Slot> slots, Clock clock) throws SQLException {
    Holder other = firstOther(slots);
    if (other != null) {
      return new ExtendReply.HeldByOther(other);
    }
    return slots.stream().allMatch(Slot::mine) ? null : new ExtendReply.Missing(clock.nowMillis());
  }

  /**
   * A repair's answer.
   *
   * @param nowMillis the database's clock
   * @param lastMillis the last moment at which it may be done
   */
  static @Nullable ExtendReply repair(List<Slot> slots, long nowMillis, long lastMillis) {
    if (nowMillis > lastMillis) {
      return new ExtendReply.Missing(nowMillis);
    }
    Failed garbage = garbage(slots);
    if (garbage != null) {
      return garbage;
    }
    Holder other = firstOther(slots);
    return other != null ? new ExtendReply.HeldByOther(other) : null;
  }

  private static @Nullable Holder firstOther(List<Slot> slots) {
    for (Slot slot : slots) {
      if (slot.other() != null) {
        return slot.other();
      }
    }
    return null;
  }

  private static long highest(List<Slot> slots) {
    return slots.stream().mapToLong(Slot::counter).max().getAsLong();
  }

  private static @Nullable Failed garbage(List<Slot> slots) {
    for (Slot slot : slots) {
      if (slot.counter() < 0 || slot.counter() > GrantRequest.MAX_COUNTER) {
        return new Failed(
            "counter of \""
                + slot.name()
                + "\" holds garbage: it is no number from 0 to "
                + GrantRequest.MAX_COUNTER
                + ", or another number of its row is none");
      }
    }
    return null;
  }
}
