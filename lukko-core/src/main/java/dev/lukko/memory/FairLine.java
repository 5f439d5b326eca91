package dev.lukko.memory;

import dev.lukko.Holder;
import dev.lukko.spi.FairTicket;
import java.time.Duration;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The line of fair waiters for one resource. Guarded by the node. */
final class FairLine {
  private final TreeMap<Place, Long> places =
      new TreeMap<>(Comparator.comparingLong(Place::order).thenComparing(Place::waiter));

  /** Takes or keeps the waiter's place for its lease from now on. */
  void keep(FairTicket ticket, long now) {
    places.put(Place.of(ticket), MemorySlot.expiry(now, ticket.leaseMillis()));
  }

  boolean leave(FairTicket ticket) {
    return places.remove(Place.of(ticket)) != null;
  }

  boolean isEmpty() {
    return places.isEmpty();
  }

  void purge(long now) {
    places.values().removeIf(expiry -> expiry - now <= 0);
  }

  /** The first waiter, if it is not the one with this ticket. */
  @Nullable Holder before(FairTicket ticket, long now) {
    Map.Entry<Place, Long> first = places.firstEntry();
    if (first == null || first.getKey().equals(Place.of(ticket))) {
      return null;
    }
    return new Holder(
        "a waiter with an earlier place",
        Optional.empty(),
        Optional.of(Duration.ofNanos(first.getValue() - now)));
  }

  private record Place(long order, String waiter) {
    static Place of(FairTicket ticket) {
      return new Place(ticket.order(), ticket.waiter());
    }
  }
}
