package dev.lukko.redlock;

import dev.lukko.redlock.Round.Vote;
import dev.lukko.spi.FleetRecord;
import dev.lukko.spi.NodeSet;
import dev.lukko.spi.NodeStatus;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Which of a client's nodes have a vote, and the sets in which a majority of them counts: one state
 * of the fleet, as one look has found it. Pure.
 *
 * <p>A client need not list exactly the nodes of its fleet. One that is no member has no vote, and
 * a member that is not listed counts as one that cannot be reached. While the set of nodes changes,
 * a majority of the present set and of the next one is needed.
 */
final class Electorate {
  private final List<Seat> seats;
  private final Side present;
  private final @Nullable Side next;
  private final @Nullable FleetRecord fleet;

  private Electorate(
      List<Seat> seats, Side present, @Nullable Side next, @Nullable FleetRecord fleet) {
    this.seats = seats;
    this.present = present;
    this.next = next;
    this.fleet = fleet;
  }

  /** So many nodes of which nothing is known: each has a vote, when it is known. */
  static Electorate ofUnknown(int nodes) {
    return of(
        Collections.nCopies(nodes, Seat.unknown(NodeStatus.unreachable("not looked at yet"))),
        null);
  }

  /**
   * What follows from a look.
   *
   * @param fleet the record of the fleet; null if there is none
   */
  static Electorate of(List<Seat> seats, @Nullable FleetRecord fleet) {
    if (fleet == null) {
      return new Electorate(seats, Side.ofAll(seats.size()), null, null);
    }
    NodeSet next = fleet.next();
    return new Electorate(
        seats, Side.of(seats, fleet.set()), next == null ? null : Side.of(seats, next), fleet);
  }

  /**
   * What follows from a further look. One that has not found the fleet leaves the nodes that are
   * silent what they were: members of the same sets, a majority of which is needed as before.
   */
  Electorate after(FleetPlan plan) {
    FleetRecord found = plan.fleet();
    return of(plan.seats(), found == null ? fleet : found);
  }

  /** The places of the client's nodes. */
  List<Seat> seats() {
    return seats;
  }

  /** What each number that is given in this epoch lies above. */
  long floor() {
    return fleet == null ? 0 : fleet.floor();
  }

  /** How many votes at least make a majority. */
  int quorum() {
    int ofPresent = Tally.quorumOf(present.size);
    return next == null ? ofPresent : Math.max(ofPresent, Tally.quorumOf(next.size));
  }

  /** Counts votes: of a node, or null if it has not answered yet. */
  Tally tally(IntFunction<@Nullable Vote> votes) {
    return present.tally(votes, next == null ? null : next.tally(votes, null));
  }

  /** Whether these nodes are a majority. */
  boolean isMajority(IntPredicate nodes) {
    return present.hasMajority(nodes) && (next == null || next.hasMajority(nodes));
  }

  /**
   * For how long a majority keeps something.
   *
   * @param nanos how long each node does
   */
  long keptByMajority(long[] nanos) {
    long kept = present.keptByMajority(nanos);
    return next == null ? kept : Math.min(kept, next.keptByMajority(nanos));
  }

  /** One set. */
  private static final class Side {
    /** Which of the client's nodes have a place. */
    private final boolean[] in;

    private final int size;

    private Side(boolean[] in, int size) {
      this.in = in;
      this.size = size;
    }

    /** As many places as there are nodes. */
    static Side ofAll(int nodes) {
      boolean[] in = new boolean[nodes];
      Arrays.fill(in, true);
      return new Side(in, nodes);
    }

    /** Nodes whose vote does not count now have the places that are left: they may be theirs. */
    static Side of(List<Seat> seats, NodeSet set) {
      boolean[] in = new boolean[seats.size()];
      int places = 0;
      for (int i = 0; i < in.length; i++) {
        in[i] = seats.get(i).seen() != null && set.contains(seats.get(i).self());
        places += in[i] ? 1 : 0;
      }
      for (int i = 0; i < in.length && places < set.size(); i++) {
        if (seats.get(i).seen() == null) {
          in[i] = true;
          places++;
        }
      }
      return new Side(in, set.size());
    }

    Tally tally(IntFunction<@Nullable Vote> votes, @Nullable Tally next) {
      int yes = 0;
      int no = 0;
      int faults = 0;
      int places = 0;
      for (int node = 0; node < in.length; node++) {
        if (!in[node]) {
          continue;
        }
        places++;
        Vote vote = votes.apply(node);
        if (vote == Vote.YES) {
          yes++;
        } else if (vote == Vote.NO) {
          no++;
        } else if (vote == Vote.FAULT) {
          faults++;
        }
      }
      return new Tally(size, yes, no, faults + size - places, next);
    }

    boolean hasMajority(IntPredicate those) {
      int count = 0;
      for (int node = 0; node < in.length; node++) {
        count += in[node] && those.test(node) ? 1 : 0;
      }
      return count >= Tally.quorumOf(size);
    }

    long keptByMajority(long[] nanos) {
      long[] kept = new long[Math.max(size, nanos.length)];
      for (int node = 0; node < nanos.length; node++) {
        kept[node] = in[node] ? nanos[node] : 0;
      }
      Arrays.sort(kept);
      return kept[kept.length - Tally.quorumOf(size)];
    }
  }
}
