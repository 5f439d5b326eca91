package dev.lukko.redlock;

import dev.lukko.spi.FleetChange;
import dev.lukko.spi.FleetMemory;
import dev.lukko.spi.FleetRecord;
import dev.lukko.spi.NodeSet;
import dev.lukko.spi.NodeStatus;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Servers that keep records, and clients that look at them and change them step by step. */
final class FleetBed {
  static final long QUARANTINE = 1_000;

  long nowMillis = 10;

  /** A server; it can forget, and be restarted with its data. */
  final class Server {
    final String name;
    private int runs;
    SortedMap<String, String> directory = new TreeMap<>();

    Server(String name) {
      this.name = name;
    }

    String identity() {
      return name + " run " + runs;
    }

    void restart() {
      runs++;
    }

    void restartEmpty() {
      runs++;
      directory = new TreeMap<>();
    }

    NodeStatus status() {
      FleetMemory memory =
          new FleetMemory(FleetRecord.idOf(identity()), directory, nowMillis, "noon");
      return NodeStatus.remembering(identity(), List.of(), Set.of(), memory);
    }

    boolean admit(NodeStatus seen, FleetChange change) {
      FleetMemory memory = seen.memory();
      if (memory == null
          || !memory.directory().equals(directory)
          || !seen.identity().orElse("").equals(identity())) {
        return false;
      }
      directory = new TreeMap<>(memory.after(change, nowMillis));
      return true;
    }

    /** Whether it would grant to a client that has seen this. */
    boolean votesFor(String seen) {
      return directory.values().stream()
          .flatMap(text -> FleetRecord.parse(text).stream())
          .anyMatch(
              record ->
                  record.seen().equals(seen)
                      && record.run().equals(FleetRecord.idOf(identity()))
                      && record.fromMillis() <= nowMillis);
    }

    @Nullable FleetRecord record(String fleet, int size) {
      String text = directory.get(FleetRecord.key(fleet, size));
      return text == null ? null : FleetRecord.parse(text).orElse(null);
    }
  }

  /** A client with its addresses, each of which leads to a server, or to none for a while. */
  final class User {
    final List<@Nullable Server> addresses;
    private final @Nullable String fleet;
    private final boolean strict;
    boolean byReading;
    List<Seat> seats = new ArrayList<>();
    Electorate electorate;
    List<NodeStatus> looked = List.of();
    String key = "";
    final List<String> notes = new ArrayList<>();

    User(@Nullable String fleet, boolean strict, Server... servers) {
      this.fleet = fleet;
      this.strict = strict;
      this.addresses = new ArrayList<>(List.of(servers));
      for (int i = 0; i < servers.length; i++) {
        seats.add(Seat.unknown(NodeStatus.unreachable("")));
      }
      electorate = Electorate.ofUnknown(servers.length);
    }

    private FleetPlan.Client client() {
      List<String> names = new ArrayList<>();
      for (int i = 0; i < addresses.size(); i++) {
        names.add("address-" + i);
      }
      return new FleetPlan.Client(names, fleet, strict, QUARANTINE, byReading);
    }

    /** Looks, twice if need be, and decides; changes nothing at a server yet. */
    FleetPlan look() {
      FleetPlan plan = look(() -> {});
      return plan.looksAgain() ? look(() -> {}) : plan;
    }

    /** Looks once, and something happens after the first node has answered. */
    FleetPlan look(Runnable meanwhile) {
      List<NodeStatus> seen = new ArrayList<>();
      for (Server server : addresses) {
        seen.add(server == null ? NodeStatus.unreachable("") : server.status());
        if (seen.size() == 1) {
          meanwhile.run();
        }
      }
      looked = seen;
      FleetPlan plan = FleetPlan.of(client(), looked, seats, key);
      seats = plan.seats();
      electorate = plan.electorate();
      FleetRecord record = plan.fleet();
      key = record == null ? key : record.key();
      if (!plan.note().isEmpty()) {
        notes.add(plan.note());
      }
      return plan;
    }

    /** Carries one change out, at whichever server the address leads to by now. */
    void apply(FleetPlan plan, int node) {
      FleetChange change = plan.change(node);
      Server server = addresses.get(node);
      if (change != null && server != null) {
        server.admit(looked.get(node), change);
      }
    }

    /** Looks and changes until there is nothing more to do. */
    FleetPlan settle() {
      for (int step = 0; step < 10; step++) {
        FleetPlan plan = look();
        if (!plan.hasChanges()) {
          return plan;
        }
        for (int i = 0; i < addresses.size(); i++) {
          apply(plan, i);
        }
      }
      throw new AssertionError("changes without end");
    }

    /** How many votes it would get for a lock that nobody holds. */
    int votes() {
      int votes = 0;
      for (int i = 0; i < addresses.size(); i++) {
        String seen = seats.get(i).seen();
        Server server = addresses.get(i);
        votes += seen != null && server != null && server.votesFor(seen) ? 1 : 0;
      }
      return votes;
    }

    /** Whether it would get a lock that nobody holds. */
    boolean wins() {
      return electorate.isMajority(
          i -> {
            String seen = seats.get(i).seen();
            Server server = addresses.get(i);
            return seen != null && server != null && server.votesFor(seen);
          });
    }
  }

  Server server(String name) {
    return new Server(name);
  }

  User user(Server... servers) {
    return new User(null, false, servers);
  }

  User strict(Server... servers) {
    return new User(null, true, servers);
  }

  User named(String fleet, Server... servers) {
    return new User(fleet, false, servers);
  }

  /**
   * The epochs of each fleet by which a majority votes just now, while a set changes one of both;
   * there must not be two of one fleet.
   */
  Map<String, List<String>> majorities(List<Server> servers) {
    Map<FleetRecord, Set<String>> votes = new HashMap<>();
    for (Server server : servers) {
      for (String text : server.directory.values()) {
        FleetRecord record = FleetRecord.parse(text).orElseThrow();
        if (server.votesFor(record.seen())) {
          votes
              .computeIfAbsent(
                  record.of("000000000000", "000000000000", 0, FleetRecord.VOTING),
                  key -> new HashSet<>())
              .add(record.self());
        }
      }
    }
    Map<String, List<String>> majorities = new HashMap<>();
    votes.forEach(
        (record, ids) -> {
          NodeSet next = record.next();
          if (isMajority(ids, record.set()) && (next == null || isMajority(ids, next))) {
            majorities.computeIfAbsent(record.key(), key -> new ArrayList<>()).add(record.ofAll());
          }
        });
    return majorities;
  }

  private static boolean isMajority(Set<String> ids, NodeSet set) {
    return ids.stream().filter(set::contains).count() >= Tally.quorumOf(set.size());
  }
}
