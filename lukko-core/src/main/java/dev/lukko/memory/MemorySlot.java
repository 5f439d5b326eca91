package dev.lukko.memory;

import dev.lukko.Holder;
import dev.lukko.spi.FairTicket;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.OwnerValue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What the node knows of one resource. Guarded by the node. */
final class MemorySlot {
  private static final long NANOS_PER_MILLI = 1_000_000L;

  final String resource;
  final FairLine line = new FairLine();
  private final Map<String, Held> holders = new LinkedHashMap<>();
  private long counter;

  /** Whether the counter's number was given to a reader, so that other readers may have it too. */
  private boolean givenToReader;

  private long lastGrant;

  MemorySlot(String resource, long now) {
    this.resource = resource;
    this.lastGrant = now;
  }

  /** When an entry of this ttl ends, in the ticker's nanoseconds. */
  static long expiry(long now, long ttlMillis) {
    return now + Math.min(ttlMillis, Long.MAX_VALUE / 4 / NANOS_PER_MILLI) * NANOS_PER_MILLI;
  }

  void purge(long now) {
    holders.values().removeIf(held -> held.expiry - now <= 0);
    line.purge(now);
  }

  /** Who keeps this entry from being granted: a holder, or a waiter with an earlier place. */
  @Nullable Holder blockerOf(LockEntry entry, @Nullable FairTicket ticket, long now) {
    for (Map.Entry<String, Held> other : holders.entrySet()) {
      boolean compatible = entry.shared() && other.getValue().shared;
      if (!other.getKey().equals(entry.owner()) && !compatible) {
        return describe(other.getKey(), other.getValue().expiry, now);
      }
    }
    return ticket == null || holds(entry.owner()) ? null : line.before(ticket, now);
  }

  boolean holds(String owner) {
    return holders.containsKey(owner);
  }

  long counter() {
    return counter;
  }

  /** Whether a reader may be given this number, which is no lower than the counter. */
  boolean readersMayHave(long number) {
    return counter < number || givenToReader;
  }

  long numberOf(String owner) {
    Held held = holders.get(owner);
    return held == null ? 0 : held.number;
  }

  /** Stores an entry with its own number, to which the counter rises. */
  void grant(LockEntry entry, long expiry, long number) {
    raise(number, entry.shared());
    holders.put(entry.owner(), new Held(entry.shared(), expiry, number));
  }

  /**
   * Stores an entry that was granted elsewhere, perhaps long ago: no reader may join its number.
   */
  void repair(LockEntry entry, long expiry, long number) {
    raise(number, false);
    holders.put(entry.owner(), new Held(entry.shared(), expiry, number));
  }

  /** The counter rises and never falls; whom its number was given to changes only with it. */
  void raise(long number, boolean toReader) {
    if (number > counter) {
      counter = number;
      givenToReader = toReader;
    }
  }

  /** Whether nothing of interest is left: no holder, no waiter, no counter worth keeping. */
  boolean isForgettable(long now, long retentionNanos) {
    purge(now);
    return holders.isEmpty() && line.isEmpty() && now - lastGrant > retentionNanos;
  }

  void granted(long now) {
    lastGrant = now;
  }

  void confirm(LockEntry entry, long number) {
    raise(number, entry.shared());
    if (!entry.shared()) {
      holders.computeIfPresent(entry.owner(), (key, held) -> new Held(false, held.expiry, number));
    }
  }

  void extend(String owner, long expiry) {
    holders.computeIfPresent(owner, (key, held) -> new Held(held.shared, expiry, held.number));
  }

  boolean remove(String owner) {
    return holders.remove(owner) != null;
  }

  List<String> owners() {
    return List.copyOf(holders.keySet());
  }

  List<Holder> holders(long now) {
    List<Holder> described = new ArrayList<>();
    holders.forEach((owner, held) -> described.add(describe(owner, held.expiry, now)));
    return described;
  }

  private static Holder describe(String owner, long expiry, long now) {
    return OwnerValue.describe(owner, Duration.ofNanos(expiry - now));
  }

  private record Held(boolean shared, long expiry, long number) {}
}
