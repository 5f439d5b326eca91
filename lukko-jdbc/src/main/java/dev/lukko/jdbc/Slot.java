package dev.lukko.jdbc;

import dev.lukko.Holder;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.OwnerValue;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One resource as a request for an entry sees it.
 *
 * @param counter the resource's counter, zero if there is none
 * @param givenToReader whether the counter's number was last given to a reader
 * @param mine whether the entry's owner holds the resource, in the entry's mode
 * @param grantCounter what the owner was granted with, if it holds the resource
 * @param other who is in the way, or null
 */
record Slot(
    String name,
    long counter,
    boolean givenToReader,
    boolean mine,
    long grantCounter,
    @Nullable Holder other) {

  /** A resource without a row. */
  static Slot missing(String name) {
    return new Slot(name, 0, false, false, 0, null);
  }

  /**
   * A resource with a row.
   *
   * @param shared the living shared entries of this resource, the one that lives longest first
   */
  static Slot of(LockRow row, List<SharedRow> shared, LockEntry entry) {
    Holder exclusive =
        row.isHeld() && row.owner() != null
            ? OwnerValue.describe(row.owner(), duration(row.livesMicros()))
            : null;
    if (entry.shared()) {
      for (SharedRow reader : shared) {
        if (reader.sound() && reader.owner().equals(entry.owner())) {
          return new Slot(
              row.name(),
              row.counter(),
              row.isGivenToReader(),
              true,
              reader.grantCounter(),
              exclusive);
        }
      }
      return new Slot(row.name(), row.counter(), row.isGivenToReader(), false, 0, exclusive);
    }
    if (row.isHeldBy(entry.owner())) {
      return new Slot(
          row.name(), row.counter(), row.isGivenToReader(), true, row.grantCounter(), null);
    }
    return new Slot(
        row.name(),
        row.counter(),
        row.isGivenToReader(),
        false,
        0,
        exclusive != null ? exclusive : readers(row, shared));
  }

  private static @Nullable Holder readers(LockRow row, List<SharedRow> shared) {
    if (row.sharedLivesMicros() <= 0) {
      return null;
    }
    Duration remaining = duration(row.sharedLivesMicros());
    return shared.isEmpty()
        ? new Holder(
            "a shared holder", java.util.Optional.empty(), java.util.Optional.of(remaining))
        : OwnerValue.describe(shared.get(0).owner(), remaining);
  }

  /** A remaining time, rounded up to the microsecond that it is. */
  static Duration duration(long micros) {
    return Duration.of(micros, ChronoUnit.MICROS); // of any number that a row can hold
  }
}
