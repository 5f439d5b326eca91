package dev.lukko.redlock;

import dev.lukko.spi.FleetChange;
import dev.lukko.spi.FleetRecord;
import dev.lukko.spi.NodeSet;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.NodeStatus.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What a look at the nodes says of one fleet: whether the client belongs to it, which set of
 * members counts, and what is to be changed at the nodes if it does. Pure, but for what it fills
 * into the look.
 */
final class FleetMembership {
  private final FleetLook look;
  private final String key;
  private final Map<Integer, FleetRecord> records = new TreeMap<>();
  private final Map<Integer, NodeStatus> found = new HashMap<>();
  private final Map<Integer, Integer> twins = new HashMap<>();
  private final List<Integer> newcomers = new ArrayList<>();
  private final FleetEpoch current;
  private @Nullable FleetRecord fleet;
  private final Map<Integer, FleetRecord> unread = new HashMap<>();
  private boolean looksAgain;
  private String note = "";

  FleetMembership(FleetLook look, String key) {
    this.look = look;
    this.key = key;
    takeNote();
    this.current = current();
  }

  String name() {
    return key.substring(0, key.indexOf(' '));
  }

  /** How many nodes of a set have the present record, or have none and need none. */
  private int held(NodeSet set, FleetEpoch variant) {
    long carriers =
        records.values().stream()
            .filter(record -> FleetEpoch.of(record).equals(variant) && set.contains(record.self()))
            .count();
    return (int) carriers + othersIn(set);
  }

  private int othersIn(NodeSet set) {
    return (int) look.others.stream().filter(i -> set.contains(look.seats[i].self())).count();
  }

  /** How many nodes of a set are there, whatever epoch their record is of. */
  private int present(NodeSet set) {
    long carriers = records.values().stream().filter(record -> set.contains(record.self())).count();
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
    boolean covers = gone > 0 || look.seats.length >= current.set().size();
    return isMajority(present(current.set()) + absent, current.set())
        || (next != null && isMajority(present(next) + absent, next))
        || (covers && gone + present(current.set()) + absent >= look.client.quorum());
  }

  /** Whether somebody uses this one server alone. */
  private boolean isOfOneServer() {
    boolean single = current.set().size() == 1 && current.next() == null;
    return single && look.seats.length > 1 && key.endsWith(" 1");
  }

  /**
   * Whether the list is one from before the fleet has grown, most nodes of which are members still:
   * the others may well decide without it. Whoever lists three of what are five by now must not
   * make a new fleet of them when one of the three forgets.
   */
  boolean decidesElsewhere(boolean formerly) {
    int foundedWith = Integer.parseInt(key.substring(key.indexOf(' ') + 1));
    boolean grown = current.next() != null || current.set().size() != foundedWith;
    long members = records.values().stream().filter(record -> current.has(record.self())).count();
    return !isOfOneServer() && (formerly || grown) && members >= look.client.quorum();
  }

  /** Whether a server was a member, and is none any more. */
  private boolean isGone(FleetRecord record) {
    return !current.has(record.self())
        && (record.epoch() < current.epoch() || FleetEpoch.of(record).equals(current));
  }

  int size() {
    return current.set().size();
  }

  /** Whether the client lists as many nodes as the fleet has. */
  boolean hasAsManyAsListed() {
    return look.seats.length == current.set().size();
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
    return look.seats.length == (next == null ? current.set().size() : current.ids().size());
  }

  /** The record of whichever member has the present epoch, once it is decided. */
  @Nullable FleetRecord fleet() {
    return fleet;
  }

  /** Whether the same has to be seen once more before anything follows from it. */
  boolean looksAgain() {
    return looksAgain;
  }

  /** What is worth a line in the log, or empty. */
  String note() {
    return note;
  }

  /** Servers that have waited, and vote again when the counters of a majority have been read. */
  Map<Integer, FleetRecord> unread() {
    return unread;
  }

  /** Fills in the places of the nodes, and what is to be changed at them. */
  void decide() {
    twins.forEach(this::barTwin);
    List<Integer> behind = new ArrayList<>();
    List<Integer> restarted = new ArrayList<>();
    for (Map.Entry<Integer, FleetRecord> entry : records.entrySet()) {
      int i = entry.getKey();
      FleetRecord record = entry.getValue();
      if (FleetEpoch.of(record).equals(current)) {
        fleet = record;
        if (!record.isMember()) {
          look.bar(i, status(i), "it is no member of fleet " + record.fleet() + " any more");
        } else if (status(i).state() == State.RESTARTED) {
          restarted.add(i);
        } else {
          look.seats[i] = new Seat(record.seen(), record.self(), status(i));
        }
      } else if (isBehind(record)) {
        behind.add(i);
        look.bar(i, status(i), "it has not heard of the present epoch " + current.epoch());
      } else if (record.epoch() < current.epoch() && status(i).state() == State.RESTARTED) {
        newcomers.add(i); // Its place was given to another one meanwhile.
      } else if (record.epoch() < current.epoch()) {
        // It is alive, and was missing for somebody else: were it let in, two clients that list
        // different servers would take its place from each other without end.
        look.bar(
            i, status(i), "its place in fleet " + record.fleet() + " was given to another server");
      } else {
        look.bar(i, status(i), "it belongs to another set of nodes of fleet " + record.fleet());
      }
    }
    for (int i : look.others) {
      if (!current.has(look.seats[i].self())) {
        look.bar(i, look.statuses.get(i), "it is no member of fleet " + name());
      }
    }
    long wait = waitOf(restarted);
    if (looksAgain) {
      restarted.forEach(i -> look.bar(i, status(i), status(i).detail()));
      newcomers.forEach(i -> look.seats[i] = look.former.get(i).barred(status(i)));
      return;
    }
    behind.forEach(i -> look.changes[i] = catchUp(i, wait));
    restarted.forEach(i -> look.changes[i] = anew(i, Objects.requireNonNull(records.get(i)), wait));
    newcomers.forEach(i -> look.seats[i] = look.former.get(i).barred(status(i)));
    if (isDecided(current) && behind.isEmpty()) {
      letIn(wait);
      findUnread();
    }
  }

  /**
   * Where no majority is left that could be read there is nothing more to wait for. While the set
   * changes, the present one is read: each token stands at a majority of it, until the change ends
   * with a floor of its own.
   */
  private void findUnread() {
    for (Map.Entry<Integer, FleetRecord> entry : records.entrySet()) {
      FleetRecord record = entry.getValue();
      NodeStatus status = status(entry.getKey());
      if (FleetEpoch.of(record).equals(current)
          && record.isMember()
          && status.state() == State.QUARANTINED
          && status.remaining().isZero()
          && record.isUnread(look.memory(entry.getKey()).clockMillis())) {
        unread.put(entry.getKey(), record);
      }
    }
    long lacking = unread.values().stream().filter(it -> current.set().contains(it.self())).count();
    if (current.set().size() - lacking < Tally.quorumOf(current.set().size())) {
      unread.forEach((node, record) -> look.changes[node] = FleetChange.of(record, 0));
      if (!unread.isEmpty()) {
        note =
            unread.size()
                + " of "
                + current.set().size()
                + " nodes of fleet "
                + name()
                + " have forgotten their counters, and no majority is left to read them from: they"
                + " vote again, and tokens go on by the clients' clocks";
      }
      unread.clear();
    }
  }

  private boolean isBehind(FleetRecord record) {
    boolean earlier = record.epoch() < current.epoch();
    return current.has(record.self()) && (earlier || current.lifts(FleetEpoch.of(record)));
  }

  /** A majority that has forgotten is a new deployment; not while the set changes. */
  private long waitOf(List<Integer> restarted) {
    long awaiting = restarted.stream().filter(i -> current.set().contains(selfOf(i))).count();
    awaiting +=
        newcomers.stream()
            .filter(
                i ->
                    listsAll()
                        || current.set().contains(look.freshId(i))
                        || current.set().contains(look.former.get(i).self()))
            .count();
    // An address that has led to a member for a while is not that member, which is there.
    long alive =
        records.entrySet().stream()
            .filter(entry -> current.set().contains(entry.getValue().self()))
            .filter(entry -> status(entry.getKey()).state() != State.RESTARTED)
            .count();
    awaiting = Math.min(awaiting, current.set().size() - alive - othersIn(current.set()));
    boolean majority = current.next() == null && awaiting >= Tally.quorumOf(current.set().size());
    long wait = look.pauseOf(majority);
    looksAgain = majority && wait == 0 && !look.isSeenTwice();
    if (majority && wait == 0 && !looksAgain && look.client.quarantineMillis() > 0) {
      note = look.newDeployment((int) awaiting, name());
    }
    return wait;
  }

  private String selfOf(int node) {
    return Objects.requireNonNull(records.get(node)).self();
  }

  private boolean isDecided(FleetEpoch variant) {
    NodeSet next = variant.next();
    return isMajority(held(variant.set(), variant), variant.set())
        && (next == null || isMajority(held(next, variant), next));
  }

  private void barTwin(int node, int twin) {
    look.seats[node] =
        look.former
            .get(node)
            .barred(
                look.statuses
                    .get(node)
                    .with(
                        State.UNFIT,
                        "it has the id of "
                            + look.client.names().get(twin)
                            + " in the fleet ("
                            + look.memory(node).record(key).map(FleetRecord::self).orElse("?")
                            + "), as a copy of it has; it would vote twice",
                        Duration.ZERO));
  }

  private NodeStatus status(int node) {
    return found.getOrDefault(node, look.statuses.get(node));
  }

  /** Reads the records; a second server with an id that is taken has no vote. */
  private void takeNote() {
    Map<String, Integer> bySelf = new HashMap<>();
    for (int i : look.formerMembersFirst(look.keepers)) {
      FleetRecord record = look.memory(i).record(key).orElse(null);
      found.put(i, look.statuses.get(i).in(key));
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
   * The set of members that counts: what a majority has; else the latest, which somebody has begun
   * to write, if it can follow on what the others have. A record that differs from theirs in more
   * than one member is that of other nodes under the same name.
   */
  private FleetEpoch current() {
    Map<FleetEpoch, Integer> counts = new HashMap<>();
    records.values().forEach(record -> counts.merge(FleetEpoch.of(record), 1, Integer::sum));
    if (counts.keySet().stream().anyMatch(this::isBegun)) {
      counts.keySet().removeIf(variant -> !isBegun(variant));
    }
    List<FleetEpoch> variants = new ArrayList<>(counts.keySet());
    Map<String, Integer> bySets = new HashMap<>();
    counts.forEach((variant, count) -> bySets.merge(variant.sets(), count, Integer::sum));
    variants.sort(
        Comparator.comparingLong(FleetEpoch::epoch)
            .thenComparing(variant -> bySets.getOrDefault(variant.sets(), 0))
            .thenComparing(FleetEpoch::sets)
            .thenComparingLong(FleetEpoch::floor)
            .reversed());
    for (FleetEpoch variant : variants) {
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
  private boolean isBegun(FleetEpoch variant) {
    return variant.next() == null
        || records.values().stream()
            .anyMatch(
                record ->
                    FleetEpoch.of(record).equals(variant) && variant.set().contains(record.self()));
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
    look.bar(node, status(node), status(node).detail());
    return FleetChange.of(
        record.of(record.self(), look.memory(node).run(), 0, FleetRecord.RESTARTED), wait);
  }

  /** Gives servers without a record the places of those that are missing. */
  private void letIn(long wait) {
    Set<String> taken = new HashSet<>();
    records.values().forEach(record -> taken.add(record.self()));
    boolean raised = false;
    for (int i : newcomers) {
      String id = look.freshId(i);
      if (current.has(id) && !taken.contains(id)) {
        FleetRecord any = Objects.requireNonNull(fleet);
        look.changes[i] =
            FleetChange.of(any.of(id, look.memory(i).run(), 0, FleetRecord.UNMARKED), wait);
        taken.add(id);
      } else if (!raised) {
        raised = raise(i, id, taken);
      }
    }
    for (int i : look.others) { // Without a record, such a node only needs a place.
      if (!raised && !current.has(look.seats[i].self()) && current.set().hasRoom()) {
        raised = raise(i, look.seats[i].self(), taken);
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
          FleetEpoch.of(entry.getValue()).equals(current)
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
    look.changes[first] =
        FleetChange.of(
            record.in(current.epoch() + 1, set, next, current.floor()), FleetChange.AS_WRITTEN);
    return true;
  }

  private boolean isBefore(FleetRecord record, int other) {
    return record.self().compareTo(Objects.requireNonNull(records.get(other)).self()) < 0;
  }

  /** The member that this node was, else one that surely is at none of the client's addresses. */
  private @Nullable String placeFor(int newcomer, Set<String> taken) {
    Set<String> missing = current.ids();
    missing.removeAll(taken);
    for (Seat seat : look.seats) {
      missing.remove(seat.seen() == null ? "" : seat.self());
    }
    if (missing.contains(look.former.get(newcomer).self())) {
      return look.former.get(newcomer).self();
    }
    if (current.next() != null || !listsAll()) {
      return null; // It may be a stranger, and the missing one alive.
    }
    for (int i = 0; i < look.seats.length; i++) {
      boolean seen = look.keepers.contains(i) || look.seats[i].seen() != null;
      if (!seen && look.former.get(i).self().isEmpty()) {
        return null; // It may be any of those that are missing.
      }
      if (!seen) {
        missing.remove(look.former.get(i).self());
      }
    }
    return missing.isEmpty() ? null : missing.iterator().next();
  }
}
