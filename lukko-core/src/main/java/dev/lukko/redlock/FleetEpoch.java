package dev.lukko.redlock;

import dev.lukko.spi.FleetRecord;
import dev.lukko.spi.NodeSet;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** What some nodes have in their records in common: the sets of one epoch. */
record FleetEpoch(long epoch, NodeSet set, @Nullable NodeSet next, long floor) {
  static FleetEpoch of(FleetRecord record) {
    return new FleetEpoch(record.epoch(), record.set(), record.next(), record.floor());
  }

  boolean has(String id) {
    return set.contains(id) || (next != null && next.contains(id));
  }

  /** What two have in common that differ in nothing but the floor. */
  String sets() {
    return epoch + " " + set + " " + next;
  }

  /** Whether another one is the same but for a lower floor, as two ends of one change make it. */
  boolean lifts(FleetEpoch other) {
    return sets().equals(other.sets()) && floor > other.floor;
  }

  /**
   * Whether it can follow on another one: a change of the set begins or ends, or at most one member
   * is another. Where several epochs lie between and the floor has risen, the set has changed
   * meanwhile: who has slept through that cannot tell by which nodes.
   */
  boolean follows(FleetEpoch before) {
    if (epoch > before.epoch + 1 && floor > before.floor) {
      return true;
    }
    if ((next == null) != (before.next == null)) {
      NodeSet expected = before.next == null ? before.set : before.next;
      return set.equals(expected) && epoch == before.epoch + 1;
    }
    Set<String> gained = new HashSet<>(ids());
    gained.removeAll(before.ids());
    return gained.size() <= 1 && set.size() == before.set.size();
  }

  /** The members of both sets. */
  Set<String> ids() {
    Set<String> ids = new TreeSet<>(set.ids());
    if (next != null) {
      ids.addAll(next.ids());
    }
    return ids;
  }
}
