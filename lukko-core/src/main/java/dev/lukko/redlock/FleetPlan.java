package dev.lukko.redlock;

import dev.lukko.spi.FleetChange;
import dev.lukko.spi.FleetRecord;
import dev.lukko.spi.NodeSet;
import dev.lukko.spi.NodeStatus;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * What follows from one look at all nodes: to which fleet they belong, which of them are whose
 * members, and what is to be changed at them next. Pure.
 *
 * <p>A client belongs to the fleet of which a majority of members is among its nodes, by their ids,
 * however many it lists; while the set of a fleet changes, a majority of the next members will do,
 * and afterwards a majority of its own nodes that were members before: who lists the nodes of a
 * fleet that has moved on must not make a new one of them. If no fleet can have a majority any
 * more, the nodes are a new one. What other fleets a server serves, and what their clients do, is
 * of no consequence.
 *
 * <p><b>One vote for an identity.</b> Nodes that are the same server, or servers with the same id
 * in the fleet, have one vote. A server without a record takes the place of the member that is
 * missing: the next epoch, with the new id in the place of the old one, is written at one member
 * first, so that of two clients with different servers one is the first; then at the others; and
 * only when a majority has it at the new server, which is quarantined. So the old id counts nowhere
 * any more before the new one counts anywhere. Nothing is ever written sideways or back: each
 * change leads to a higher epoch, or adds a server to the one that a majority has.
 *
 * <p>A look takes a while: a server that restarts meanwhile, and is asked through two addresses,
 * looks like two. So nothing that makes servers vote at once follows from one look, but only from
 * two in which each has told the same identity: then all of them were there between the two.
 *
 * <p>A change may end half-way: any later look goes on where it ended.
 */
final class FleetPlan {
  /**
   * What a client brings along to a look at its nodes.
   *
   * @param byReading whether a node that forgot votes again only when counters have been read
   */
  record Client(
      List<String> names,
      @Nullable String fleet,
      boolean strict,
      long quarantineMillis,
      boolean byReading) {

    /** For how long a node is barred that forgot. */
    long pauseMillis() {
      boolean until = byReading && quarantineMillis > 0;
      return until ? quarantineMillis + FleetChange.UNTIL_READ_MILLIS : quarantineMillis;
    }

    int quorum() {
      return Tally.quorumOf(names.size());
    }
  }

  /** A server of the client's that serves another fleet as well. */
  record Overlap(String node, FleetRecord own, FleetRecord other) {
    /** Whether it may be the client's own fleet from before a majority of it forgot. */
    boolean mayBeLeftOver() {
      return other.isUnnamed() && own.isUnnamed() && other.size() == own.size();
    }

    /** The human-readable sentence. */
    String describe() {
      String first = "node " + node + " is also one of " + other.describe();
      String members = " (members " + String.join(", ", other.members()) + ")";
      return own.size() == 1 && other.size() > 1
          ? first
              + members
              + ": a lock that is taken at this node alone does not exclude the locks of that"
              + " fleet; list all "
              + other.size()
              + " nodes"
          : first
              + members
              + ", while this client uses "
              + own.describe()
              + " (members "
              + String.join(", ", own.members())
              + "): their locks do not exclude each other";
    }
  }

  /** The fleet has other nodes than the client lists. */
  record Difference(FleetRecord own, int nodes, List<String> lacking, List<String> surplus) {

    /** The human-readable sentence. */
    String describe() {
      NodeSet next = own.next();
      return "this client lists "
          + nodes
          + (nodes == 1 ? " node" : " nodes")
          + ", and "
          + own.describe()
          + " (members "
          + String.join(", ", own.members())
          + (next == null ? "" : "; next " + String.join(", ", next.ids()))
          + ") has other ones"
          + (lacking.isEmpty() ? "" : "; the list lacks " + String.join(", ", lacking))
          + (surplus.isEmpty() ? "" : "; without a vote: " + String.join(", ", surplus))
          + "; see docs/operating/fleets.md";
    }
  }

  private final FleetLook look;
  private @Nullable FleetRecord fleet;
  private String ambiguity = "";
  private String note = "";
  private boolean looksAgain;
  private boolean founding;
  private Map<Integer, FleetRecord> unread = Map.of();

  private FleetPlan(FleetLook look) {
    this.look = look;
  }

  /**
   * Decides.
   *
   * @param statuses what the nodes have told
   * @param former what was known of them before
   * @param formerKey the fleet that the client belonged to, or empty
   */
  static FleetPlan of(
      Client client, List<NodeStatus> statuses, List<Seat> former, String formerKey) {
    FleetPlan plan = new FleetPlan(new FleetLook(client, statuses, former));
    plan.decide(formerKey);
    plan.keepSilent();
    return plan;
  }

  /** The place of each node. */
  List<Seat> seats() {
    return List.of(look.seats);
  }

  /** The places, and the sets in which a majority of them counts. */
  Electorate electorate() {
    return Electorate.of(seats(), fleet);
  }

  /** How the client's list differs from the fleet's set; null if it does not. */
  @Nullable Difference difference() {
    FleetRecord own = fleet;
    if (own == null) {
      return null;
    }
    Set<String> ids = FleetEpoch.of(own).ids();
    List<String> lacking = new ArrayList<>(ids);
    List<String> surplus = new ArrayList<>();
    for (int i = 0; i < look.seats.length; i++) {
      lacking.remove(look.seats[i].self());
      boolean here = look.keepers.contains(i) || look.others.contains(i);
      if (here
          && look.seats[i].seen() == null
          && look.changes[i] == null
          && !own.has(look.seats[i].self())) {
        surplus.add(look.client.names().get(i));
      }
    }
    boolean fits =
        own.isJoint()
            ? surplus.isEmpty() && look.seats.length <= ids.size()
            : look.seats.length == own.size();
    return fits ? null : new Difference(own, look.seats.length, lacking, surplus);
  }

  /** What is to be changed at a node, or null. */
  @Nullable FleetChange change(int node) {
    return look.changes[node];
  }

  boolean hasChanges() {
    for (FleetChange change : look.changes) {
      if (change != null) {
        return true;
      }
    }
    return false;
  }

  /** Whether the nodes are to be a new fleet. */
  boolean isFounding() {
    return founding;
  }

  /** Whether the same has to be seen once more before anything follows from it. */
  boolean looksAgain() {
    return looksAgain;
  }

  /** The fleet's record, of whichever member; null if no node keeps records, or none is found. */
  @Nullable FleetRecord fleet() {
    return fleet;
  }

  /** Why it cannot be told to which fleet the client belongs, or empty. */
  String ambiguity() {
    return ambiguity;
  }

  /** What is worth a line in the log, or empty. */
  String note() {
    return note;
  }

  /**
   * Whether servers have waited out their quarantine, and vote again when the counters of a
   * majority have been read.
   */
  boolean awaitsReading() {
    return !unread.isEmpty();
  }

  /** What lets such a server vote again, above the highest counter; null if it is none. */
  @Nullable FleetChange returned(int node, long highest) {
    FleetRecord record = unread.get(node);
    return record == null
        ? null
        : FleetChange.of(
            record.in(
                record.epoch(), record.set(), record.next(), Math.max(record.floor(), highest)),
            0);
  }

  /** The servers that serve other fleets too. */
  List<Overlap> overlaps() {
    FleetRecord own = fleet;
    List<Overlap> overlaps = new ArrayList<>();
    if (own == null) {
      return overlaps;
    }
    for (int i : look.keepers) {
      for (FleetRecord other : look.memory(i).records()) {
        boolean same = other.members().equals(own.members());
        FleetChange change = look.changes[i];
        boolean ends = change != null && change.dropped().contains(other.key());
        if (!other.key().equals(own.key()) && !same && !ends && other.isMember()) {
          overlaps.add(new Overlap(look.client.names().get(i), own, other));
        }
      }
    }
    return overlaps;
  }

  /**
   * A node that cannot be reached keeps its place, if the fleet is still the same and nobody else
   * has turned out to be the server that it was.
   */
  private void keepSilent() {
    FleetRecord now = fleet;
    for (int i = 0; i < look.seats.length; i++) {
      String seen = look.former.get(i).seen();
      if (look.statuses.get(i).identity().isEmpty() && seen != null) {
        boolean other = now != null && seen.contains(" ") && !seen.startsWith(now.ofAll());
        if (!other && !hasSeat(seen)) {
          look.seats[i] = look.former.get(i).unreachable(look.statuses.get(i));
        }
      }
    }
  }

  /** Whether this very server has a vote already, through an address that has answered. */
  private boolean hasSeat(String seen) {
    return Arrays.stream(look.seats).anyMatch(seat -> seat != null && seen.equals(seat.seen()));
  }

  // ---- which fleet

  private void decide(String formerKey) {
    if (look.keepers.isEmpty()) {
      return;
    }
    Map<String, FleetMembership> known = new TreeMap<>();
    for (int i : look.keepers) {
      for (FleetRecord record : look.memory(i).records()) {
        if (look.client.fleet() == null || look.client.fleet().equals(record.fleet())) {
          known.computeIfAbsent(record.key(), key -> new FleetMembership(look, key));
        }
      }
    }
    // A node that cannot be reached may belong to the fleet as well: who cannot reach his own one
    // must not join another meanwhile that has some of the nodes.
    int absent = look.seats.length - look.keepers.size() - look.others.size();
    boolean possible = look.keepers.size() + look.others.size() >= look.client.quorum();
    FleetMembership formerly = known.get(formerKey);
    List<FleetMembership> fitting = known.values().stream().filter(it -> it.fits(absent)).toList();
    fitting =
        formerly != null && fitting.contains(formerly) ? List.of(formerly) : likeliest(fitting);
    if (fitting.size() > 1
        && absent == 0
        && fitting.stream().allMatch(FleetMembership::isOfTheseNodes)) {
      // As when all have forgotten while clients made a new fleet of them: whichever it is, its
      // majorities are of these nodes.
      fitting =
          List.of(Collections.max(fitting, Comparator.comparingInt(FleetMembership::carriers)));
    }
    if (fitting.size() > 1) {
      List<String> names = fitting.stream().map(FleetMembership::name).toList();
      ambiguity =
          "the nodes belong to "
              + names.size()
              + " fleets: "
              + String.join(" and ", names)
              + "; say by fleet(...) which one is meant";
      look.keepers.forEach(i -> look.bar(i, look.statuses.get(i), ambiguity));
    } else if (fitting.isEmpty()
        && possible
        && absent < look.client.quorum()
        && known.values().stream().noneMatch(it -> it.decidesElsewhere(it == formerly))) {
      found();
    } else if (!fitting.isEmpty()
        && fitting.get(0).fits(0)
        && (possible || fitting.get(0) == formerly || fitting.get(0).hasAsManyAsListed())) {
      join(fitting.get(0));
    } else {
      String key = known.isEmpty() ? "" : known.keySet().iterator().next();
      look.keepers.forEach(i -> leaveAsItIs(i, look.statuses.get(i).in(key)));
    }
  }

  private void join(FleetMembership membership) {
    membership.decide();
    fleet = membership.fleet();
    note = membership.note();
    looksAgain = membership.looksAgain();
    unread = membership.unread();
  }

  private void leaveAsItIs(int node, NodeStatus status) {
    if (isAsBefore(node)) {
      look.seats[node] =
          new Seat(look.former.get(node).seen(), look.former.get(node).self(), status);
      return;
    }
    look.bar(
        node,
        status,
        status.awaitsAdmission()
            ? status.detail()
            : "no majority of the fleet can be reached, or of this client's nodes");
  }

  /** Of several fleets the one with as many nodes as the client lists, else the largest one. */
  private static List<FleetMembership> likeliest(List<FleetMembership> fitting) {
    List<FleetMembership> asListed =
        fitting.stream().filter(FleetMembership::hasAsManyAsListed).toList();
    if (!asListed.isEmpty()) {
      return asListed;
    }
    int most = fitting.stream().mapToInt(it -> it.size()).max().orElse(0);
    return fitting.stream().filter(it -> it.size() == most).toList();
  }

  /** Whether a server still has the record that was seen before. */
  private boolean isAsBefore(int node) {
    String seen = look.former.get(node).seen();
    return seen != null
        && look.memory(node).records().stream()
            .anyMatch(
                record ->
                    record.seen().equals(seen) && record.run().equals(look.memory(node).run()));
  }

  // ---- a new fleet

  /** No fleet can have a majority of these nodes: it is a new deployment, or all have forgotten. */
  private void found() {
    founding = true;
    boolean majority = look.keepers.size() >= look.client.quorum();
    long pause = look.pauseOf(majority);
    if (pause == 0 && !look.isSeenTwice()) {
      looksAgain = true;
      return;
    }
    Map<Integer, String> ids = new HashMap<>();
    Set<String> members = new TreeSet<>();
    long epoch = 0;
    long floor = 0;
    for (int i = 0; i < look.seats.length; i++) {
      if (look.seats[i].seen() != null) {
        members.add(look.seats[i].self());
      }
    }
    for (int i : look.keepers) {
      FleetRecord kept = keptUnderName(i);
      String id = kept == null || ids.containsValue(kept.self()) ? look.freshId(i) : kept.self();
      ids.put(i, id);
      members.add(id);
      epoch = kept == null ? epoch : Math.max(epoch, kept.epoch() + 1);
      floor = kept == null ? floor : Math.max(floor, kept.floor());
    }
    List<String> all = List.copyOf(members);
    String name =
        look.client.fleet() == null
            ? FleetRecord.nameOf(look.seats.length, all)
            : look.client.fleet();
    for (int i : look.keepers) {
      String id = Objects.requireNonNull(ids.get(i));
      FleetRecord record =
          new FleetRecord(
              name,
              look.seats.length,
              epoch,
              new NodeSet(all, look.seats.length),
              null,
              floor,
              id,
              look.memory(i).run(),
              0,
              FleetRecord.UNMARKED);
      fleet = record;
      look.changes[i] = new FleetChange(record, pause, formerUnnamed(i, record.key()));
      look.seats[i] = look.former.get(i).barred(look.statuses.get(i).in(record.key()));
    }
    if (pause == 0 && look.client.quarantineMillis() > 0) {
      note = look.newDeployment(look.keepers.size(), name);
    }
  }

  private @Nullable FleetRecord keptUnderName(int node) {
    return look.client.fleet() == null
        ? null
        : look.memory(node)
            .record(FleetRecord.key(look.client.fleet(), look.seats.length))
            .orElse(null);
  }

  /** What is left of a fleet without name that has no majority any more. */
  private Set<String> formerUnnamed(int node, String key) {
    Set<String> left = new HashSet<>();
    for (FleetRecord record : look.memory(node).records()) {
      if (look.client.fleet() == null
          && record.isUnnamed()
          && record.size() == look.seats.length
          && !record.key().equals(key)) {
        left.add(record.key());
      }
    }
    return left;
  }
}
