package dev.lukko.testkit.sim;

import dev.lukko.Lease;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** All acquisitions of a history, and what must be true of them. */
final class Ledger {
  /** The grain of clocks and rounding. */
  private static final long GRAIN_NANOS = 2_000;

  private final World world;
  private final Map<String, Acquisition> byOwner = new HashMap<>();
  private final List<Acquisition> granted = new ArrayList<>();

  Ledger(World world) {
    this.world = world;
  }

  int grants() {
    return granted.size();
  }

  // ---- what clients ask

  /** A grant is about to be asked for. */
  Acquisition begins(SimClient client, SimNode node, GrantRequest request) {
    LockEntry entry = request.entry();
    Acquisition acquisition = byOwner.get(entry.owner());
    if (acquisition == null) {
      acquisition =
          new Acquisition(
              byOwner.size() + 1,
              entry.owner(),
              entry.resources(),
              entry.shared(),
              client,
              request.ttlMillis() * 1_000_000L,
              world.now());
      byOwner.put(entry.owner(), acquisition);
    }
    int bit = 1 << node.number();
    if ((acquisition.grantsSent & bit) != 0) {
      world.violated(Check.F4, "an owner value was used for more than one round");
    }
    acquisition.grantsSent |= bit;
    if (client.number() != world.plan.firstUnreachable()) {
      checkNotReleased(acquisition, bit, Verb.GRANT);
    }
    return acquisition;
  }

  /** Something else is about to be asked for an owner. */
  Acquisition asked(SimClient client, SimNode node, LockEntry entry, Verb verb) {
    Acquisition acquisition = byOwner.get(entry.owner());
    if (acquisition == null) {
      // A node in doubt is asked only when it has told who it is.
      if (client.number() != world.plan.firstUnreachable()) {
        world.violated(Check.F4, verb + " for an owner value that never asked for a grant");
      }
      acquisition =
          new Acquisition(
              byOwner.size() + 1,
              entry.owner(),
              entry.resources(),
              entry.shared(),
              client,
              world.plan.ttlNanos(),
              world.now());
      byOwner.put(entry.owner(), acquisition);
    }
    int bit = 1 << node.number();
    if (verb == Verb.RELEASE) {
      acquisition.releasesSent |= bit;
    } else {
      checkNotReleased(acquisition, bit, verb);
    }
    return acquisition;
  }

  private void checkNotReleased(Acquisition acquisition, int bit, Verb verb) {
    if ((acquisition.releasesSent & bit) != 0 && !acquisition.client.isDead()) {
      world.violated(
          Check.F4, verb + " for acquisition " + acquisition.number + " after its release");
    }
  }

  // ---- what holders are given

  Acquisition of(Lease lease) {
    Acquisition acquisition = byOwner.get(lease.owner());
    if (acquisition == null) {
      throw new IllegalStateException("a lease of an owner that never asked");
    }
    return acquisition;
  }

  /** A contender has been given a lease. */
  Acquisition granted(Lease lease, SimClient client) {
    Acquisition acquisition = of(lease);
    long now = world.now();
    acquisition.lease = lease;
    acquisition.token = lease.fencingToken();
    acquisition.grantedAt = now;
    world.log.add(now, Hook.LEASED, client.number(), -1, acquisition.number, acquisition.token);
    look(acquisition);
    if (acquisition.endSeen
        && world.now() == world.stepBeganAt()
        && !client.hasStoodStillSince(now) // Between the decision and its way to the caller.
        && !client.hasClockTrouble()) {
      world.violated(Check.F5, "a lease was granted that was not valid");
    }
    for (Acquisition other : granted) {
      if (other.resources.stream().anyMatch(acquisition.resources::contains)) {
        checkTokens(other, acquisition);
      }
    }
    granted.add(acquisition);
    return acquisition;
  }

  private void checkTokens(Acquisition earlier, Acquisition later) {
    boolean readers = earlier.shared && later.shared;
    if (earlier.token == later.token && !readers) {
      world.violated(Check.F1, "acquisitions " + pair(earlier, later) + " have " + later.token);
    }
    boolean inOrder =
        earlier.grantedAt < later.beganAt
            || (world.plan.excludes()
                && !later.endSeen
                && !readers
                && earlier.endedAt() < later.grantedAt);
    boolean rises = readers ? earlier.token <= later.token : earlier.token < later.token;
    if (inOrder && ordersTokens(later) && !rises) {
      world.violated(
          Check.F2,
          "acquisitions " + pair(earlier, later) + ": " + earlier.token + " >= " + later.token);
    }
  }

  /**
   * When all nodes have forgotten, and vote at once, the order rests on the clock in the proposal;
   * a client that stood still may have read it long ago.
   */
  private boolean ordersTokens(Acquisition later) {
    boolean onlyByClock = world.plan.weather().losesMajority() && !world.plan.strict();
    return world.ordersTokens() && (!onlyByClock || later.client.pauses() == 0);
  }

  private static String pair(Acquisition earlier, Acquisition later) {
    return earlier.number + " and " + later.number;
  }

  /** Looks at a lease as its holder might, and holds what it says against what is so. */
  void look(Acquisition acquisition) {
    Lease lease = acquisition.lease;
    if (lease == null) {
      return;
    }
    long now = world.now();
    long remaining = acquisition.client.unobserved(() -> lease.remaining().toNanos());
    if (remaining <= 0) {
      acquisition.endSeen = true;
      acquisition.claimedEnd = Math.min(acquisition.claimedEnd, now);
      return;
    }
    if (acquisition.endSeen || acquisition.losses > 0) {
      world.violated(Check.LOSS, "acquisition " + acquisition.number + " was valid after its end");
    }
    if (acquisition.releasedAt != Acquisition.NEVER) {
      world.violated(
          Check.LOSS, "acquisition " + acquisition.number + " was valid after its release");
    }
    long end = now + acquisition.client.clock().toTrueNanos(remaining);
    long backed = acquisition.backedUntil(world.sets());
    if (end > backed + GRAIN_NANOS && world.plan.ratesKeepBound()) {
      world.violated(
          Check.F5,
          String.format(
              "acquisition %d claims %.3f ms, a quorum keeps it for %.3f ms",
              acquisition.number, remaining / 1e6, (backed - now) / 1e6));
    }
    acquisition.claimedEnd = end;
  }

  /** A holder gives a lease back. */
  void releases(Acquisition acquisition) {
    look(acquisition);
    if (acquisition.releasedAt == Acquisition.NEVER) {
      acquisition.releasedAt = world.now();
    }
  }

  void lost(Acquisition acquisition) {
    acquisition.losses++;
    acquisition.lostAt = Math.min(acquisition.lostAt, world.now());
    if (acquisition.losses > 1) {
      world.violated(Check.LOSS, "the loss of " + acquisition.number + " was told twice");
    }
    if (acquisition.releasedAt != Acquisition.NEVER && !acquisition.endSeen) {
      world.violated(Check.LOSS, "a loss of " + acquisition.number + " was told after its release");
    }
  }

  // ---- the end

  /** Whether two exclusive leases of a resource were ever valid at the same time. */
  void checkExclusion() {
    for (int i = 0; i < granted.size(); i++) {
      for (int j = 0; j < i; j++) {
        Acquisition a = granted.get(j);
        Acquisition b = granted.get(i);
        boolean exclusive = !a.shared || !b.shared;
        if (exclusive
            && a.grantedAt < b.endedAt()
            && b.grantedAt < a.endedAt()
            && a.resources.stream().anyMatch(b.resources::contains)) {
          world.violated(
              Check.M,
              String.format(
                  "acquisitions %d (%.3f to %.3f ms) and %d (%.3f to %.3f ms)",
                  a.number,
                  a.grantedAt / 1e6,
                  a.endedAt() / 1e6,
                  b.number,
                  b.grantedAt / 1e6,
                  b.endedAt() / 1e6));
        }
      }
    }
  }
}
