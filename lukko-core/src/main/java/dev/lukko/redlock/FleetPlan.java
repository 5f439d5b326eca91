package dev.lukko.redlock;

import dev.lukko.spi.FleetChange;
import dev.lukko.spi.FleetMemory;
import dev.lukko.spi.FleetRecord;
import dev.lukko.spi.NodeSet;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.NodeStatus.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
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
  /** What a client brings along to a look at its nodes. */
  record Client(List<String> names, @Nullable String fleet, boolean strict, long quarantineMillis) {
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

  private final Client client;
  private final List<NodeStatus> statuses;
  private final List<Seat> former;
  private final Seat[] seats;
  private final @Nullable FleetChange[] changes;
  private final List<Integer> keepers = new ArrayList<>();
  private final List<Integer> others = new ArrayList<>();
  private @Nullable FleetRecord fleet;
  private String ambiguity = "";
  private String note = "";
  private boolean looksAgain;
  private boolean founding;

  private FleetPlan(Client client, List<NodeStatus> statuses, List<Seat> former) {
    this.client = client;
    this.statuses = statuses;
    this.former = former;
    this.seats = new Seat[statuses.size()];
    this.changes = new FleetChange[statuses.size()];
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
    FleetPlan plan = new FleetPlan(client, statuses, former);
    plan.seat();
    plan.decide(formerKey);
    plan.keepSilent();
    return plan;
  }

  /** The place of each node. */
  List<Seat> seats() {
    return List.of(seats);
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
    List<String> lacking = new ArrayList<>(idsOf(own.set(), own.next()));
    List<String> surplus = new ArrayList<>();
    for (int i = 0; i < seats.length; i++) {
      lacking.remove(seats[i].self());
      boolean here = keepers.contains(i) || others.contains(i);
      if (here && seats[i].seen() == null && changes[i] == null && !own.has(seats[i].self())) {
        surplus.add(client.names().get(i));
      }
    }
    boolean fits =
        own.isJoint()
            ? surplus.isEmpty() && seats.length <= idsOf(own.set(), own.next()).size()
            : seats.length == own.size();
    return fits ? null : new Difference(own, seats.length, lacking, surplus);
  }

  private static Set<String> idsOf(NodeSet set, @Nullable NodeSet next) {
    Set<String> ids = new TreeSet<>(set.ids());
    if (next != null) {
      ids.addAll(next.ids());
    }
    return ids;
  }

  /** What is to be changed at a node, or null. */
  @Nullable FleetChange change(int node) {
    return changes[node];
  }

  boolean hasChanges() {
    for (FleetChange change : changes) {
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

  /** Whether all nodes told the same identities in the look before. */
  private boolean isSeenTwice() {
    for (int i = 0; i < seats.length; i++) {
      Optional<String> identity = statuses.get(i).identity();
      if (identity.isPresent() && !identity.equals(former.get(i).identity())) {
        return false;
      }
    }
    return true;
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

  /** The servers that serve other fleets too. */
  List<Overlap> overlaps() {
    FleetRecord own = fleet;
    List<Overlap> overlaps = new ArrayList<>();
    if (own == null) {
      return overlaps;
    }
    for (int i : keepers) {
      for (FleetRecord other : memory(i).records()) {
        boolean same = other.members().equals(own.members());
        FleetChange change = changes[i];
        boolean ends = change != null && change.dropped().contains(other.key());
        if (!other.key().equals(own.key()) && !same && !ends && other.isMember()) {
          overlaps.add(new Overlap(client.names().get(i), own, other));
        }
      }
    }
    return overlaps;
  }

  // ---- who is there

  private FleetMemory memory(int node) {
    return Objects.requireNonNull(statuses.get(node).memory());
  }

  /** The id that a server gets that has none in the fleet. */
  private String freshId(int node) {
    return FleetRecord.idOf(statuses.get(node).identity().orElseThrow());
  }

  private void seat() {
    Map<String, Integer> byIdentity = new HashMap<>();
    for (int i : formerMembersFirst()) {
      NodeStatus status = statuses.get(i);
      String identity = status.identity().orElse("");
      if (status.state() == State.UNREACHABLE || identity.isEmpty()) {
        seats[i] = former.get(i).barred(status);
        continue;
      }
      Integer twin = byIdentity.putIfAbsent(identity, i);
      String unfitness = Admission.unfitness(status, seats.length);
      if (!unfitness.isEmpty()) {
        seats[i] = former.get(i).barred(status.with(State.UNFIT, unfitness, Duration.ZERO));
      } else if (twin != null) {
        seats[i] = twinOf(twin, i);
      } else if (status.memory() == null) {
        seats[i] = new Seat(identity, FleetRecord.idOf(identity), status);
        others.add(i);
      } else {
        seats[i] = former.get(i).barred(status);
        keepers.add(i);
      }
    }
    Collections.sort(keepers);
  }

  /** A node that was this server before keeps its vote, not the one that leads there now. */
  private List<Integer> formerMembersFirst() {
    List<Integer> order = new ArrayList<>();
    for (int i = 0; i < seats.length; i++) {
      if (isStill(i)) {
        order.add(i);
      }
    }
    for (int i = 0; i < seats.length; i++) {
      if (!isStill(i)) {
        order.add(i);
      }
    }
    return order;
  }

  private boolean isStill(int node) {
    return former.get(node).seen() != null
        && former.get(node).identity().equals(statuses.get(node).identity());
  }

  private Seat twinOf(int first, int node) {
    return former
        .get(node)
        .barred(
            statuses
                .get(node)
                .with(
                    State.UNFIT,
                    "it is the same server as "
                        + client.names().get(first)
                        + "; it would vote twice",
                    Duration.ZERO));
  }

  /**
   * A node that cannot be reached keeps its place, if the fleet is still the same and nobody else
   * has turned out to be the server that it was.
   */
  private void keepSilent() {
    FleetRecord now = fleet;
    for (int i = 0; i < seats.length; i++) {
      String seen = former.get(i).seen();
      if (statuses.get(i).identity().isEmpty() && seen != null) {
        boolean other = now != null && seen.contains(" ") && !seen.startsWith(now.ofAll());
        if (!other && !hasSeat(seen)) {
          seats[i] = former.get(i).unreachable(statuses.get(i));
        }
      }
    }
  }

  /** Whether this very server has a vote already, through an address that has answered. */
  private boolean hasSeat(String seen) {
    return Arrays.stream(seats).anyMatch(seat -> seat != null && seen.equals(seat.seen()));
  }

  // ---- which fleet

  private void decide(String formerKey) {
    if (keepers.isEmpty()) {
      return;
    }
    Map<String, Joining> known = new TreeMap<>();
    for (int i : keepers) {
      for (FleetRecord record : memory(i).records()) {
        if (client.fleet() == null || client.fleet().equals(record.fleet())) {
          known.computeIfAbsent(record.key(), Joining::new);
        }
      }
    }
    // A node that cannot be reached may belong to the fleet as well: who cannot reach his own one
    // must not join another meanwhile that has some of the nodes.
    int absent = seats.length - keepers.size() - others.size();
    boolean possible = keepers.size() + others.size() >= client.quorum();
    Joining formerly = known.get(formerKey);
    List<Joining> fitting = known.values().stream().filter(it -> it.fits(absent)).toList();
    fitting =
        formerly != null && fitting.contains(formerly) ? List.of(formerly) : likeliest(fitting);
    if (fitting.size() > 1 && absent == 0 && fitting.stream().allMatch(Joining::isOfTheseNodes)) {
      // As when all have forgotten while clients made a new fleet of them: whichever it is, its
      // majorities are of these nodes.
      fitting = List.of(Collections.max(fitting, Comparator.comparingInt(Joining::carriers)));
    }
    if (fitting.size() > 1) {
      List<String> names = fitting.stream().map(Joining::name).toList();
      ambiguity =
          "the nodes belong to "
              + names.size()
              + " fleets: "
              + String.join(" and ", names)
              + "; say by fleet(...) which one is meant";
      keepers.forEach(i -> bar(i, statuses.get(i), ambiguity));
    } else if (fitting.isEmpty()
        && possible
        && absent < client.quorum()
        && known.values().stream().noneMatch(it -> it.decidesElsewhere(it == formerly))) {
      found();
    } else if (!fitting.isEmpty()
        && fitting.get(0).fits(0)
        && (possible || fitting.get(0) == formerly || fitting.get(0).hasAsManyAsListed())) {
      fitting.get(0).decide();
    } else {
      String key = known.isEmpty() ? "" : known.keySet().iterator().next();
      keepers.forEach(i -> leaveAsItIs(i, statuses.get(i).in(key)));
    }
  }

  private void leaveAsItIs(int node, NodeStatus status) {
    if (isAsBefore(node)) {
      seats[node] = new Seat(former.get(node).seen(), former.get(node).self(), status);
      return;
    }
    bar(
        node,
        status,
        status.awaitsAdmission()
            ? status.detail()
            : "no majority of the fleet can be reached, or of this client's nodes");
  }

  /** Of several fleets the one with as many nodes as the client lists, else the largest one. */
  private static List<Joining> likeliest(List<Joining> fitting) {
    List<Joining> asListed = fitting.stream().filter(Joining::hasAsManyAsListed).toList();
    if (!asListed.isEmpty()) {
      return asListed;
    }
    int most = fitting.stream().mapToInt(it -> it.current.set().size()).max().orElse(0);
    return fitting.stream().filter(it -> it.current.set().size() == most).toList();
  }

  /** Whether a server still has the record that was seen before. */
  private boolean isAsBefore(int node) {
    String seen = former.get(node).seen();
    return seen != null
        && memory(node).records().stream()
            .anyMatch(
                record -> record.seen().equals(seen) && record.run().equals(memory(node).run()));
  }

  private void bar(int node, NodeStatus status, String why) {
    State state = status.state() == State.VOTING ? State.CHANGED : status.state();
    seats[node] = former.get(node).barred(status.with(state, why, status.remaining()));
  }

  // ---- a new fleet

  /** No fleet can have a majority of these nodes: it is a new deployment, or all have forgotten. */
  private void found() {
    founding = true;
    boolean majority = keepers.size() >= client.quorum();
    long pause = majority && !client.strict() ? 0 : client.quarantineMillis();
    if (pause == 0 && !isSeenTwice()) {
      looksAgain = true;
      return;
    }
    Map<Integer, String> ids = new HashMap<>();
    Set<String> members = new TreeSet<>();
    long epoch = 0;
    long floor = 0;
    for (int i = 0; i < seats.length; i++) {
      if (seats[i].seen() != null) {
        members.add(seats[i].self());
      }
    }
    for (int i : keepers) {
      FleetRecord kept = keptUnderName(i);
      String id = kept == null || ids.containsValue(kept.self()) ? freshId(i) : kept.self();
      ids.put(i, id);
      members.add(id);
      epoch = kept == null ? epoch : Math.max(epoch, kept.epoch() + 1);
      floor = kept == null ? floor : Math.max(floor, kept.floor());
    }
    List<String> all = List.copyOf(members);
    String name = client.fleet() == null ? FleetRecord.nameOf(seats.length, all) : client.fleet();
    for (int i : keepers) {
      String id = Objects.requireNonNull(ids.get(i));
      FleetRecord record =
          new FleetRecord(
              name,
              seats.length,
              epoch,
              new NodeSet(all, seats.length),
              null,
              floor,
              id,
              memory(i).run(),
              0,
              FleetRecord.UNMARKED);
      fleet = record;
      changes[i] = new FleetChange(record, pause, formerUnnamed(i, record.key()));
      seats[i] = former.get(i).barred(statuses.get(i).in(record.key()));
    }
    if (pause == 0 && client.quarantineMillis() > 0) {
      note = newDeployment(keepers.size(), name);
    }
  }

  /** Nothing is said of a store in this process, which cannot have forgotten what it granted. */
  private String newDeployment(int nodes, String name) {
    if (keepers.stream().allMatch(node -> memory(node).upSince().isEmpty())) {
      return "";
    }
    return nodes
        + " of "
        + seats.length
        + " nodes have no record of their present run: taken for a new deployment, fleet "
        + name
        + ", they vote at once (a strict client would wait for "
        + Duration.ofMillis(client.quarantineMillis())
        + ")";
  }

  private @Nullable FleetRecord keptUnderName(int node) {
    return client.fleet() == null
        ? null
        : memory(node).record(FleetRecord.key(client.fleet(), seats.length)).orElse(null);
  }

  /** What is left of a fleet without name that has no majority any more. */
  private Set<String> formerUnnamed(int node, String key) {
    Set<String> left = new HashSet<>();
    for (FleetRecord record : memory(node).records()) {
      if (client.fleet() == null
          && record.isUnnamed()
          && record.size() == seats.length
          && !record.key().equals(key)) {
        left.add(record.key());
      }
    }
    return left;
  }

  // ---- a fleet that is there

  /** What some nodes have in their records in common: the sets of one epoch. */
  private record Variant(long epoch, NodeSet set, @Nullable NodeSet next, long floor) {
    static Variant of(FleetRecord record) {
      return new Variant(record.epoch(), record.set(), record.next(), record.floor());
    }

    boolean has(String id) {
      return set.contains(id) || (next != null && next.contains(id));
    }

    /** What two have in common that differ in nothing but the floor. */
    String sets() {
      return epoch + " " + set + " " + next;
    }

    /** Whether another one is the same but for a lower floor, as two ends of one change make it. */
    boolean lifts(Variant other) {
      return sets().equals(other.sets()) && floor > other.floor;
    }

    /**
     * Whether it can follow on another one: a change of the set begins or ends, or at most one
     * member is another.
     */
    boolean follows(Variant before) {
      if ((next == null) != (before.next == null)) {
        NodeSet expected = before.next == null ? before.set : before.next;
        return set.equals(expected) && epoch == before.epoch + 1;
      }
      Set<String> gained = new HashSet<>(idsOf(set, next));
      gained.removeAll(idsOf(before.set, before.next));
      return gained.size() <= 1 && set.size() == before.set.size();
    }
  }

  /** The decision if the client belongs to a fleet. */
  private final class Joining {
    private final String key;
    private final Map<Integer, FleetRecord> records = new TreeMap<>();
    private final Map<Integer, NodeStatus> found = new HashMap<>();
    private final Map<Integer, Integer> twins = new HashMap<>();
    private final List<Integer> newcomers = new ArrayList<>();
    private final Variant current;

    Joining(String key) {
      this.key = key;
      takeNote();
      this.current = current();
    }

    String name() {
      return key.substring(0, key.indexOf(' '));
    }

    /** How many nodes of a set have the present record, or have none and need none. */
    private int held(NodeSet set, Variant variant) {
      long carriers =
          records.values().stream()
              .filter(record -> Variant.of(record).equals(variant) && set.contains(record.self()))
              .count();
      return (int) carriers + othersIn(set);
    }

    private int othersIn(NodeSet set) {
      return (int) others.stream().filter(i -> set.contains(seats[i].self())).count();
    }

    /** How many nodes of a set are there, whatever epoch their record is of. */
    private int present(NodeSet set) {
      long carriers =
          records.values().stream().filter(record -> set.contains(record.self())).count();
      return (int) carriers + othersIn(set);
    }

    private boolean isMajority(int nodes, NodeSet set) {
      return nodes >= Tally.quorumOf(set.size());
    }

    /**
     * Whether the client belongs to this fleet.
     *
     * @param absent how many more of its nodes may be those that would decide it
     */
    boolean fits(int absent) {
      if (isOfOneServer()) {
        return false;
      }
      NodeSet next = current.next();
      long gone = records.values().stream().filter(this::isGone).count();
      boolean covers = gone > 0 || seats.length >= current.set().size();
      return isMajority(present(current.set()) + absent, current.set())
          || (next != null && isMajority(present(next) + absent, next))
          || (covers && gone + present(current.set()) + absent >= client.quorum());
    }

    /** Whether somebody uses this one server alone. */
    private boolean isOfOneServer() {
      boolean single = current.set().size() == 1 && current.next() == null;
      return single && seats.length > 1 && key.endsWith(" 1");
    }

    /**
     * Whether the list is one from before the fleet has grown, most nodes of which are members
     * still: the others may well decide without it. Whoever lists three of what are five by now
     * must not make a new fleet of them when one of the three forgets.
     */
    boolean decidesElsewhere(boolean formerly) {
      int foundedWith = Integer.parseInt(key.substring(key.indexOf(' ') + 1));
      boolean grown = current.next() != null || current.set().size() != foundedWith;
      long members = records.values().stream().filter(record -> current.has(record.self())).count();
      return !isOfOneServer() && (formerly || grown) && members >= client.quorum();
    }

    /** Whether a server was a member, and is none any more. */
    private boolean isGone(FleetRecord record) {
      return !current.has(record.self())
          && (record.epoch() < current.epoch() || Variant.of(record).equals(current));
    }

    /** Whether the client lists as many nodes as the fleet has. */
    boolean hasAsManyAsListed() {
      return seats.length == current.set().size();
    }

    /** Whether it is a fleet without name that was made of as many nodes as are listed. */
    boolean isOfTheseNodes() {
      return key.startsWith("#") && current.next() == null && hasAsManyAsListed();
    }

    int carriers() {
      return records.size();
    }

    /** Whether as many nodes are listed as there are: then each that is strange is a new one. */
    private boolean listsAll() {
      NodeSet next = current.next();
      return seats.length
          == (next == null ? current.set().size() : idsOf(current.set(), next).size());
    }

    void decide() {
      twins.forEach(this::barTwin);
      List<Integer> behind = new ArrayList<>();
      List<Integer> restarted = new ArrayList<>();
      for (Map.Entry<Integer, FleetRecord> entry : records.entrySet()) {
        int i = entry.getKey();
        FleetRecord record = entry.getValue();
        if (Variant.of(record).equals(current)) {
          fleet = record;
          if (!record.isMember()) {
            bar(i, status(i), "it is no member of fleet " + record.fleet() + " any more");
          } else if (status(i).state() == State.RESTARTED) {
            restarted.add(i);
          } else {
            seats[i] = new Seat(record.seen(), record.self(), status(i));
          }
        } else if (isBehind(record)) {
          behind.add(i);
          bar(i, status(i), "it has not heard of the present epoch " + current.epoch());
        } else if (record.epoch() < current.epoch() && status(i).state() == State.RESTARTED) {
          newcomers.add(i); // Its place was given to another one meanwhile.
        } else if (record.epoch() < current.epoch()) {
          // It is alive, and was missing for somebody else: were it let in, two clients that list
          // different servers would take its place from each other without end.
          bar(
              i,
              status(i),
              "its place in fleet " + record.fleet() + " was given to another server");
        } else {
          bar(i, status(i), "it belongs to another set of nodes of fleet " + record.fleet());
        }
      }
      for (int i : others) {
        if (!current.has(seats[i].self())) {
          bar(i, statuses.get(i), "it is no member of fleet " + name());
        }
      }
      long wait = waitOf(restarted);
      if (looksAgain) {
        restarted.forEach(i -> bar(i, status(i), status(i).detail()));
        newcomers.forEach(i -> seats[i] = former.get(i).barred(status(i)));
        return;
      }
      behind.forEach(i -> changes[i] = catchUp(i, wait));
      restarted.forEach(i -> changes[i] = anew(i, Objects.requireNonNull(records.get(i)), wait));
      newcomers.forEach(i -> seats[i] = former.get(i).barred(status(i)));
      if (isDecided(current) && behind.isEmpty()) {
        letIn(wait);
      }
    }

    private boolean isBehind(FleetRecord record) {
      boolean earlier = record.epoch() < current.epoch();
      return current.has(record.self()) && (earlier || current.lifts(Variant.of(record)));
    }

    /** A majority that has forgotten is a new deployment; not while the set changes. */
    private long waitOf(List<Integer> restarted) {
      long awaiting = restarted.stream().filter(i -> current.set().contains(selfOf(i))).count();
      awaiting +=
          newcomers.stream()
              .filter(
                  i ->
                      listsAll()
                          || current.set().contains(freshId(i))
                          || current.set().contains(former.get(i).self()))
              .count();
      boolean majority = current.next() == null && awaiting >= Tally.quorumOf(current.set().size());
      long wait = majority && !client.strict() ? 0 : client.quarantineMillis();
      looksAgain = majority && wait == 0 && !isSeenTwice();
      if (majority && wait == 0 && !looksAgain && client.quarantineMillis() > 0) {
        note = newDeployment((int) awaiting, name());
      }
      return wait;
    }

    private String selfOf(int node) {
      return Objects.requireNonNull(records.get(node)).self();
    }

    private boolean isDecided(Variant variant) {
      NodeSet next = variant.next();
      return isMajority(held(variant.set(), variant), variant.set())
          && (next == null || isMajority(held(next, variant), next));
    }

    private void barTwin(int node, int twin) {
      seats[node] =
          former
              .get(node)
              .barred(
                  statuses
                      .get(node)
                      .with(
                          State.UNFIT,
                          "it has the id of "
                              + client.names().get(twin)
                              + " in the fleet ("
                              + memory(node).record(key).map(FleetRecord::self).orElse("?")
                              + "), as a copy of it has; it would vote twice",
                          Duration.ZERO));
    }

    private NodeStatus status(int node) {
      return found.getOrDefault(node, statuses.get(node));
    }

    /** Reads the records; a second server with an id that is taken has no vote. */
    private void takeNote() {
      Map<String, Integer> bySelf = new HashMap<>();
      List<Integer> order = new ArrayList<>(keepers);
      order.sort((a, b) -> Boolean.compare(isStill(b), isStill(a)));
      for (int i : order) {
        FleetRecord record = memory(i).record(key).orElse(null);
        found.put(i, statuses.get(i).in(key));
        if (record == null) {
          newcomers.add(i);
          continue;
        }
        Integer twin = bySelf.putIfAbsent(record.self(), i);
        if (twin == null) {
          records.put(i, record);
        } else {
          twins.put(i, twin);
        }
      }
      Collections.sort(newcomers);
    }

    /**
     * The set of members that counts: what a majority has; else the latest, which somebody has
     * begun to write, if it can follow on what the others have. A record that differs from theirs
     * in more than one member is that of other nodes under the same name.
     */
    private Variant current() {
      Map<Variant, Integer> counts = new HashMap<>();
      records.values().forEach(record -> counts.merge(Variant.of(record), 1, Integer::sum));
      if (counts.keySet().stream().anyMatch(this::isBegun)) {
        counts.keySet().removeIf(variant -> !isBegun(variant));
      }
      List<Variant> variants = new ArrayList<>(counts.keySet());
      Map<String, Integer> bySets = new HashMap<>();
      counts.forEach((variant, count) -> bySets.merge(variant.sets(), count, Integer::sum));
      variants.sort(
          Comparator.comparingLong(Variant::epoch)
              .thenComparing(variant -> bySets.getOrDefault(variant.sets(), 0))
              .thenComparing(Variant::sets)
              .thenComparingLong(Variant::floor)
              .reversed());
      for (Variant variant : variants) {
        boolean decided = isDecided(variant);
        boolean follows =
            variants.stream()
                .filter(before -> before.epoch() < variant.epoch())
                .findFirst()
                .map(variant::follows)
                .orElse(true);
        if (decided || follows) {
          return variant;
        }
      }
      return variants.get(variants.size() - 1);
    }

    /**
     * A change of the set begins at the nodes that are there. What only nodes have that are to come
     * is left from a change that ended before it began.
     */
    private boolean isBegun(Variant variant) {
      return variant.next() == null
          || records.values().stream()
              .anyMatch(
                  record ->
                      Variant.of(record).equals(variant) && variant.set().contains(record.self()));
    }

    /** A member that has an older epoch gets the present one. */
    private FleetChange catchUp(int node, long wait) {
      FleetRecord next =
          Objects.requireNonNull(records.get(node))
              .in(current.epoch(), current.set(), current.next(), current.floor());
      return status(node).state() == State.RESTARTED
          ? anew(node, next, wait)
          : FleetChange.of(next, FleetChange.AS_WRITTEN);
    }

    private FleetChange anew(int node, FleetRecord record, long wait) {
      bar(node, status(node), status(node).detail());
      return FleetChange.of(
          record.of(record.self(), memory(node).run(), 0, FleetRecord.RESTARTED), wait);
    }

    /** Gives servers without a record the places of those that are missing. */
    private void letIn(long wait) {
      Set<String> taken = new HashSet<>();
      records.values().forEach(record -> taken.add(record.self()));
      boolean raised = false;
      for (int i : newcomers) {
        String id = freshId(i);
        if (current.has(id) && !taken.contains(id)) {
          FleetRecord any = Objects.requireNonNull(fleet);
          changes[i] = FleetChange.of(any.of(id, memory(i).run(), 0, FleetRecord.UNMARKED), wait);
          taken.add(id);
        } else if (!raised) {
          raised = raise(i, id, taken);
        }
      }
      for (int i : others) { // Without a record, such a node only needs a place.
        if (!raised && !current.has(seats[i].self()) && current.set().hasRoom()) {
          raised = raise(i, seats[i].self(), taken);
        }
      }
    }

    /** Begins the next epoch, in which a newcomer has the place of a missing member. */
    private boolean raise(int newcomer, String id, Set<String> taken) {
      NodeSet set = current.set();
      NodeSet next = current.next();
      if (next == null && set.hasRoom()) {
        if (!listsAll()) {
          return false;
        }
        set = set.with(id);
      } else {
        String missing = placeFor(newcomer, taken);
        if (missing == null) {
          return false;
        }
        set = set.replaced(missing, id);
        next = next == null ? null : next.replaced(missing, id);
      }
      int first = -1;
      for (Map.Entry<Integer, FleetRecord> entry : records.entrySet()) {
        boolean candidate =
            Variant.of(entry.getValue()).equals(current)
                && current.set().contains(entry.getValue().self())
                && status(entry.getKey()).state() != State.RESTARTED;
        if (candidate && (first < 0 || isBefore(entry.getValue(), first))) {
          first = entry.getKey();
        }
      }
      if (first < 0) {
        return false;
      }
      FleetRecord record = Objects.requireNonNull(records.get(first));
      changes[first] =
          FleetChange.of(
              record.in(current.epoch() + 1, set, next, current.floor()), FleetChange.AS_WRITTEN);
      return true;
    }

    private boolean isBefore(FleetRecord record, int other) {
      return record.self().compareTo(Objects.requireNonNull(records.get(other)).self()) < 0;
    }

    /** The member that this node was, else one that surely is at none of the client's addresses. */
    private @Nullable String placeFor(int newcomer, Set<String> taken) {
      Set<String> missing = new TreeSet<>(idsOf(current.set(), current.next()));
      missing.removeAll(taken);
      for (Seat seat : seats) {
        missing.remove(seat.seen() == null ? "" : seat.self());
      }
      if (missing.contains(former.get(newcomer).self())) {
        return former.get(newcomer).self();
      }
      if (current.next() != null || !listsAll()) {
        return null; // It may be a stranger, and the missing one alive.
      }
      for (int i = 0; i < seats.length; i++) {
        boolean seen = keepers.contains(i) || seats[i].seen() != null;
        if (!seen && former.get(i).self().isEmpty()) {
          return null; // It may be any of those that are missing.
        }
        if (!seen) {
          missing.remove(former.get(i).self());
        }
      }
      return missing.isEmpty() ? null : missing.iterator().next();
    }
  }
}
