package dev.lukko.redlock;

import dev.lukko.spi.FleetChange;
import dev.lukko.spi.FleetMemory;
import dev.lukko.spi.FleetRecord;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.NodeStatus.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
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
 * <p>A client belongs to the fleet whose record a majority of its nodes have, with as many members
 * as the client has nodes. If no fleet can have a majority any more, the nodes are a new one. What
 * other fleets a server serves, and what their clients do, is of no consequence.
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

  private final Client client;
  private final List<NodeStatus> statuses;
  private final List<Seat> former;
  private final Seat[] seats;
  private final @Nullable FleetChange[] changes;
  private final List<Integer> keepers = new ArrayList<>();
  private int others;
  private @Nullable FleetRecord fleet;
  private String ambiguity = "";
  private String note = "";
  private boolean looksAgain;

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
        if (!other.key().equals(own.key()) && !same && !ends) {
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
        others++;
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
    Map<String, List<Integer>> carriers = new TreeMap<>();
    for (int i : keepers) {
      for (FleetRecord record : memory(i).records()) {
        boolean meant = client.fleet() == null || client.fleet().equals(record.fleet());
        if (record.size() == seats.length && meant) {
          carriers.computeIfAbsent(record.key(), key -> new ArrayList<>()).add(i);
        }
      }
    }
    List<String> fitting = new ArrayList<>();
    int most = 0;
    for (Map.Entry<String, List<Integer>> entry : carriers.entrySet()) {
      most = Math.max(most, entry.getValue().size());
      if (entry.getValue().size() + others >= client.quorum()) {
        fitting.add(entry.getKey());
      }
    }
    if (fitting.size() == 1) {
      new Joining(fitting.get(0)).decide();
    } else if (fitting.contains(formerKey)) {
      new Joining(formerKey).decide();
    } else if (!fitting.isEmpty()
        && keepers.size() + others == seats.length
        && fitting.stream().allMatch(key -> key.startsWith("#"))) {
      // All nodes are seen, and several fleets without name have most of them, as when all have
      // forgotten while clients made a new one. Whichever it is, its majorities are of these nodes.
      fitting.sort(
          Comparator.comparingInt((String key) -> -carriers.getOrDefault(key, List.of()).size())
              .thenComparing(Comparator.naturalOrder()));
      new Joining(fitting.get(0)).decide();
    } else if (!fitting.isEmpty()) {
      List<String> names = fitting.stream().map(key -> key.substring(0, key.indexOf(' '))).toList();
      ambiguity =
          "the nodes belong to "
              + names.size()
              + " fleets: "
              + String.join(" and ", names)
              + "; say by fleet(...) which one is meant";
      keepers.forEach(i -> bar(i, statuses.get(i), ambiguity));
    } else {
      int absent = seats.length - keepers.size() - others;
      boolean possible = keepers.size() + others >= client.quorum();
      if (possible && absent + most < client.quorum()) {
        found();
      } else {
        String key = carriers.isEmpty() ? "" : carriers.keySet().iterator().next();
        for (int i : keepers) {
          NodeStatus status = statuses.get(i).in(key);
          if (isAsBefore(i)) {
            seats[i] = new Seat(former.get(i).seen(), former.get(i).self(), status);
            continue;
          }
          bar(
              i,
              status,
              status.awaitsAdmission()
                  ? status.detail()
                  : "no majority of the fleet can be reached, or of this client's nodes");
        }
      }
    }
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
    boolean majority = keepers.size() >= client.quorum();
    long pause = majority && !client.strict() ? 0 : client.quarantineMillis();
    if (pause == 0 && !isSeenTwice()) {
      looksAgain = true;
      return;
    }
    Map<Integer, String> ids = new HashMap<>();
    Set<String> members = new TreeSet<>();
    long epoch = 0;
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
    }
    List<String> all = List.copyOf(members);
    String name = client.fleet() == null ? FleetRecord.nameOf(seats.length, all) : client.fleet();
    for (int i : keepers) {
      String id = Objects.requireNonNull(ids.get(i));
      FleetRecord record =
          new FleetRecord(
              name, seats.length, epoch, all, id, memory(i).run(), 0, FleetRecord.UNMARKED);
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

  /** One set of members that some nodes have in their records. */
  private record Variant(long epoch, List<String> members) {
    static Variant of(FleetRecord record) {
      return new Variant(record.epoch(), record.members());
    }

    /** Whether it can follow on another one: at most one member is another. */
    boolean follows(Variant before) {
      Set<String> gained = new HashSet<>(members);
      before.members.forEach(gained::remove);
      return gained.size() <= 1;
    }
  }

  /** The decision if the client belongs to a fleet. */
  private final class Joining {
    private final String key;
    private final Map<Integer, FleetRecord> records = new TreeMap<>();
    private final Map<Integer, NodeStatus> found = new HashMap<>();
    private final List<Integer> newcomers = new ArrayList<>();

    Joining(String key) {
      this.key = key;
    }

    void decide() {
      takeNote();
      Variant current = current();
      List<Integer> behind = new ArrayList<>();
      List<Integer> restarted = new ArrayList<>();
      List<Integer> members = new ArrayList<>();
      for (Map.Entry<Integer, FleetRecord> entry : records.entrySet()) {
        int i = entry.getKey();
        FleetRecord record = entry.getValue();
        if (Variant.of(record).equals(current)) {
          fleet = record;
          members.add(i);
          if (status(i).state() == State.RESTARTED) {
            restarted.add(i);
          } else {
            seats[i] = new Seat(record.seen(), record.self(), status(i));
          }
        } else if (record.epoch() < current.epoch() && current.members().contains(record.self())) {
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
      boolean decided = members.size() + others >= client.quorum();
      int awaiting = restarted.size() + newcomers.size();
      boolean majority = awaiting >= client.quorum();
      long wait = majority && !client.strict() ? 0 : client.quarantineMillis();
      if (majority && wait == 0 && !isSeenTwice()) {
        looksAgain = true;
        restarted.forEach(i -> bar(i, status(i), status(i).detail()));
        newcomers.forEach(i -> seats[i] = former.get(i).barred(status(i)));
        return;
      }
      if (majority && wait == 0 && client.quarantineMillis() > 0) {
        note = newDeployment(awaiting, key.substring(0, key.indexOf(' ')));
      }
      behind.forEach(i -> changes[i] = catchUp(i, current, wait));
      restarted.forEach(i -> changes[i] = anew(i, Objects.requireNonNull(records.get(i)), wait));
      newcomers.forEach(i -> seats[i] = former.get(i).barred(status(i)));
      if (decided && behind.isEmpty()) {
        letIn(current, wait);
      }
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
          seats[i] =
              former
                  .get(i)
                  .barred(
                      statuses
                          .get(i)
                          .with(
                              State.UNFIT,
                              "it has the id of "
                                  + client.names().get(twin)
                                  + " in the fleet ("
                                  + record.self()
                                  + "), as a copy of it has; it would vote twice",
                              Duration.ZERO));
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
      List<Variant> variants = new ArrayList<>(counts.keySet());
      variants.sort(
          (a, b) ->
              a.epoch() != b.epoch()
                  ? Long.compare(b.epoch(), a.epoch())
                  : Integer.compare(counts.getOrDefault(b, 0), counts.getOrDefault(a, 0)));
      for (Variant variant : variants) {
        boolean decided = counts.getOrDefault(variant, 0) + others >= client.quorum();
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

    /** A member that has an older epoch gets the present one. */
    private FleetChange catchUp(int node, Variant current, long wait) {
      FleetRecord record = Objects.requireNonNull(records.get(node));
      FleetRecord next =
          new FleetRecord(
              record.fleet(),
              record.size(),
              current.epoch(),
              current.members(),
              record.self(),
              record.run(),
              record.fromMillis(),
              record.why());
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
    private void letIn(Variant current, long wait) {
      Set<String> taken = new HashSet<>();
      records.values().forEach(record -> taken.add(record.self()));
      boolean raised = false;
      for (int i : newcomers) {
        String id = freshId(i);
        if (current.members().contains(id) && !taken.contains(id)) {
          changes[i] = FleetChange.of(record(current, id, memory(i).run()), wait);
          taken.add(id);
        } else if (!raised) {
          raised = raise(i, id, current, taken);
        }
      }
    }

    private FleetRecord record(Variant current, String self, String run) {
      FleetRecord any = Objects.requireNonNull(fleet);
      return new FleetRecord(
          any.fleet(),
          any.size(),
          current.epoch(),
          current.members(),
          self,
          run,
          0,
          FleetRecord.UNMARKED);
    }

    /** Begins the next epoch, in which a newcomer has the place of a missing member. */
    private boolean raise(int newcomer, String id, Variant current, Set<String> taken) {
      List<String> members = new ArrayList<>(current.members());
      if (members.size() == seats.length) {
        String missing = placeFor(newcomer, current.members(), taken);
        if (missing == null) {
          return false;
        }
        members.remove(missing);
      }
      members.add(id);
      int first = -1;
      for (Map.Entry<Integer, FleetRecord> entry : records.entrySet()) {
        boolean candidate =
            Variant.of(entry.getValue()).equals(current)
                && status(entry.getKey()).state() != State.RESTARTED;
        if (candidate && (first < 0 || isBefore(entry.getValue(), first))) {
          first = entry.getKey();
        }
      }
      if (first < 0) {
        return false;
      }
      FleetRecord record = Objects.requireNonNull(records.get(first));
      changes[first] = FleetChange.of(record.next(members), FleetChange.AS_WRITTEN);
      return true;
    }

    private boolean isBefore(FleetRecord record, int other) {
      return record.self().compareTo(Objects.requireNonNull(records.get(other)).self()) < 0;
    }

    /** The member that this node was, else one that surely is at none of the client's addresses. */
    private @Nullable String placeFor(int newcomer, Collection<String> members, Set<String> taken) {
      Set<String> missing = new TreeSet<>(members);
      missing.removeAll(taken);
      for (Seat seat : seats) {
        missing.remove(seat.seen() == null ? "" : seat.self());
      }
      if (missing.contains(former.get(newcomer).self())) {
        return former.get(newcomer).self();
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
