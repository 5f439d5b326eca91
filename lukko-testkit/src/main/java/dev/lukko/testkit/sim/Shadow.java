package dev.lukko.testkit.sim;

import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.NodeFault;
import dev.lukko.spi.ReleaseReply;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a node must know if it does what it says: a second, simpler account of its entries, against
 * which each of its replies is held.
 */
final class Shadow {
  private static final long NANOS_PER_MILLI = 1_000_000L;

  private final Map<String, Slot> slots = new HashMap<>(4);

  private List<Slot> slots(LockEntry entry, long now) {
    List<Slot> found = new ArrayList<>(entry.resources().size());
    for (String resource : entry.resources()) {
      Slot slot = slots.computeIfAbsent(resource, key -> new Slot());
      slot.purge(now);
      found.add(slot);
    }
    return found;
  }

  /** The node has looked at these resources, and dropped what had ended. */
  void look(LockEntry entry, long now) {
    slots(entry, now);
  }

  void begin(String resource, long counter) {
    Slot slot = new Slot();
    slot.raise(counter, false);
    slots.put(resource, slot);
  }

  void forget() {
    slots.clear();
  }

  /** Takes note of a reply; gives what is wrong with it, or null. */
  @Nullable String granted(
      LockEntry entry,
      long ttlMillis,
      GrantReply reply,
      Acquisition owner,
      boolean queued,
      long now) {
    if (reply instanceof NodeFault) {
      return null;
    }
    List<Slot> wanted = slots(entry, now);
    Held other = blocker(wanted, entry);
    if (reply instanceof GrantReply.Granted granted) {
      if (other != null) {
        return "granted while acquisition " + other.owner.number + " held the entry";
      }
      Held mine = wanted.get(0).of(entry.owner());
      boolean again = wanted.stream().allMatch(slot -> slot.of(entry.owner()) != null);
      long highest = wanted.stream().mapToLong(slot -> slot.counter).max().orElse(0);
      if (again && mine != null && mine.number != granted.counter()) {
        return "a repeated grant raised the counter from " + mine.number;
      }
      if (!again && !mayGive(wanted, entry, granted.counter())) {
        return "a grant did not raise the counter above " + highest;
      }
      if (!again) {
        wanted.forEach(slot -> slot.raise(granted.counter(), entry.shared()));
        put(wanted, entry, ttlMillis, granted.counter(), owner, now);
      }
    } else if (reply instanceof GrantReply.Refused && other == null && !queued) {
      return "refused though nobody was in the way";
    }
    return null;
  }

  @Nullable String confirmed(LockEntry entry, long counter, ConfirmReply reply, long now) {
    if (reply instanceof NodeFault) {
      return null; // It has not looked at its entries.
    }
    List<Slot> wanted = slots(entry, now);
    if (reply instanceof ConfirmReply.Confirmed) {
      for (Slot slot : wanted) {
        Held mine = slot.of(entry.owner());
        if (mine == null) {
          return "confirmed an entry that it does not hold";
        }
        long lowest = entry.shared() ? mine.number : slot.counter;
        if (counter < lowest) {
          return "confirmed " + counter + " though it had given " + lowest;
        }
      }
      for (Slot slot : wanted) {
        slot.raise(counter, entry.shared());
        Held mine = slot.of(entry.owner());
        if (mine != null && !entry.shared()) {
          mine.number = counter;
        }
      }
    } else if (reply instanceof ConfirmReply.Higher higher && higher.counter() <= counter) {
      return "did not confirm " + counter + " though it had given no more than " + higher.counter();
    }
    return null;
  }

  /** Whether a grant may get this number: a new one, or a reader one that a reader has. */
  private static boolean mayGive(List<Slot> wanted, LockEntry entry, long number) {
    return wanted.stream()
        .allMatch(
            slot ->
                slot.counter < number
                    || (entry.shared() && slot.counter == number && slot.readers));
  }

  @Nullable String extended(LockEntry entry, long ttlMillis, ExtendReply reply, long now) {
    if (reply instanceof NodeFault) {
      return null; // It has not looked at its entries.
    }
    List<Slot> wanted = slots(entry, now);
    if (reply instanceof ExtendReply.Extended) {
      for (Slot slot : wanted) {
        Held mine = slot.of(entry.owner());
        if (mine == null) {
          return "extended an entry that it does not hold";
        }
      }
      wanted.forEach(slot -> slot.extend(entry.owner(), now + ttlMillis * NANOS_PER_MILLI));
    }
    return null;
  }

  @Nullable String repaired(
      LockEntry entry,
      long ttlMillis,
      long counter,
      ExtendReply reply,
      Acquisition owner,
      long now) {
    if (reply instanceof NodeFault || reply instanceof ExtendReply.Missing) {
      return null; // It has not looked at its entries.
    }
    List<Slot> wanted = slots(entry, now);
    if (reply instanceof ExtendReply.Extended) {
      Held other = blocker(wanted, entry);
      if (other != null) {
        return "repaired over the entry of acquisition " + other.owner.number;
      }
      wanted.forEach(slot -> slot.raise(counter, false));
      put(wanted, entry, ttlMillis, counter, owner, now);
    }
    return null;
  }

  @Nullable String released(LockEntry entry, ReleaseReply reply, long now) {
    boolean held = true;
    for (Slot slot : slots(entry, now)) {
      held &= slot.held.removeIf(each -> each.owner.owner.equals(entry.owner()));
    }
    if (reply instanceof ReleaseReply.Released && !held) {
      return "released an entry that it did not hold in full";
    }
    return reply instanceof ReleaseReply.NotHeld && held ? "denied an entry that it held" : null;
  }

  /** Whether a live entry of anybody is there for the resource. */
  boolean isHeld(String resource, long now) {
    Slot slot = slots.get(resource);
    if (slot == null) {
      return false;
    }
    slot.purge(now);
    return !slot.held.isEmpty();
  }

  /** All acquisitions that have a live entry. */
  List<Acquisition> holders(long now) {
    List<Acquisition> holders = new ArrayList<>();
    for (Slot slot : slots.values()) {
      slot.purge(now);
      slot.held.forEach(each -> holders.add(each.owner));
    }
    return holders;
  }

  private static void put(
      List<Slot> wanted,
      LockEntry entry,
      long ttlMillis,
      long number,
      Acquisition owner,
      long now) {
    for (Slot slot : wanted) {
      slot.held.removeIf(each -> each.owner.owner.equals(entry.owner()));
      slot.held.add(new Held(owner, entry.shared(), now + ttlMillis * NANOS_PER_MILLI, number));
    }
  }

  private static @Nullable Held blocker(List<Slot> wanted, LockEntry entry) {
    for (Slot slot : wanted) {
      for (Held each : slot.held) {
        if (!each.owner.owner.equals(entry.owner()) && !(each.shared && entry.shared())) {
          return each;
        }
      }
    }
    return null;
  }

  private static final class Slot {
    final List<Held> held = new ArrayList<>(2);
    long counter;

    /** Whether readers may have the counter's number. */
    boolean readers;

    void raise(long number, boolean toReader) {
      if (number > counter) {
        counter = number;
        readers = toReader;
      }
    }

    void purge(long now) {
      for (int i = held.size() - 1; i >= 0; i--) {
        if (held.get(i).expiry - now <= 0) {
          held.remove(i);
        }
      }
    }

    @Nullable Held of(String owner) {
      for (Held each : held) {
        if (each.owner.owner.equals(owner)) {
          return each;
        }
      }
      return null;
    }

    void extend(String owner, long expiry) {
      Held mine = of(owner);
      if (mine != null) {
        mine.expiry = expiry;
      }
    }
  }

  private static final class Held {
    final Acquisition owner;
    final boolean shared;
    long expiry;
    long number;

    Held(Acquisition owner, boolean shared, long expiry, long number) {
      this.owner = owner;
      this.shared = shared;
      this.expiry = expiry;
      this.number = number;
    }
  }
}
