package dev.lukko.testkit.sim;

import dev.lukko.LockException;
import dev.lukko.spi.FleetRecord;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The true time, the one queue of everything that is going to happen, and what takes part. */
final class World {
  private static final int MOST_EVENTS = 200_000;

  final Plan plan;
  final EventLog log;
  final Dice weather;
  final Ledger ledger;
  final Injector injector;
  final List<SimNode> nodes = new ArrayList<>();
  final List<SimClient> clients = new ArrayList<>();
  private final List<SimClient> neighbours = new ArrayList<>();
  private final List<SimClient> changers = new ArrayList<>();

  /** The sets that have decided, or may have. */
  private final List<Set<Integer>> sets = new ArrayList<>();

  private boolean moved;
  private boolean countersLost;

  private final PriorityQueue<Event> queue = new PriorityQueue<>(256);
  private long now;
  private long numbers;
  private long stepBeganAt;
  private int events;
  private int requests;
  private boolean standing;
  private @Nullable SimClient current;
  private @Nullable Violation violation;

  World(Plan plan, boolean tracing) {
    this.plan = plan;
    this.log = new EventLog(tracing);
    this.weather = new Dice(plan.seed() ^ 0x77656174686572L);
    this.ledger = new Ledger(this);
    this.injector = new Injector(this, plan.faults());
  }

  long now() {
    return now;
  }

  /** The client whose step is being made, if any. */
  @Nullable SimClient current() {
    return current;
  }

  /** When the present step began: earlier than now if its client has stood still in it. */
  long stepBeganAt() {
    return stepBeganAt;
  }

  Event at(long time, @Nullable SimClient client, Runnable task) {
    Event event = new Event(Math.max(time, now), numbers++, client, task);
    queue.add(event);
    return event;
  }

  /** Lets everything happen that is due before a time, and moves on to that time. */
  void runUntil(long end) {
    while (violation == null) {
      Event next = queue.peek();
      if (next == null || next.time >= end) {
        break;
      }
      queue.poll();
      if (!next.over) {
        happen(next);
      }
    }
    now = Math.max(now, end);
  }

  private void happen(Event event) {
    SimClient client = event.client;
    if (client != null) {
      if (client.isDead()) {
        event.over = true;
        return;
      }
      if (client.pausedUntil() > event.time) {
        event.time = client.pausedUntil();
        queue.add(event);
        return;
      }
    }
    event.over = true;
    now = Math.max(now, event.time);
    if (++events > MOST_EVENTS) {
      violated(Check.BOUND, "more than " + MOST_EVENTS + " events: something runs in a circle");
      return;
    }
    SimClient before = current;
    long beganBefore = stepBeganAt;
    current = client;
    stepBeganAt = now;
    try {
      event.task.run();
    } catch (RuntimeException | StackOverflowError | AssertionError thrown) {
      violated(Check.NO_THROW, thrown + at(thrown));
    } finally {
      current = before;
      stepBeganAt = beganBefore;
    }
  }

  private static String at(Throwable thrown) {
    StackTraceElement[] trace = thrown.getStackTrace();
    return trace.length == 0 ? "" : " at " + trace[0];
  }

  /**
   * Stops a client in the middle of the step that it is making, while everything else goes on. Only
   * one client can stand so at a time, since its step stands on this thread's stack.
   *
   * @return whether it has stood
   */
  boolean standStill(SimClient client, long nanos) {
    if (!canStand(client)) {
      return false;
    }
    standing = true;
    try {
      client.pauseUntil(now + nanos);
      runUntil(now + nanos);
    } finally {
      standing = false;
    }
    return true;
  }

  boolean canStand(SimClient client) {
    return !standing && current == client && !client.isDead();
  }

  /** Notes the first violation; the history ends with it. */
  void violated(Check check, String what) {
    if (violation == null) {
      violation = new Violation(check, what, now);
      log.line(now, "VIOLATION of " + check + ": " + what);
    }
  }

  @Nullable Violation violation() {
    return violation;
  }

  /** Whether anything is on its way to a node, or back to a living client. */
  boolean isBusy() {
    return requests > 0 || clients.stream().anyMatch(SimClient::isAwaiting);
  }

  void requestBegins() {
    requests++;
  }

  void requestEnds() {
    requests--;
  }

  /** The address of the first of two nodes leads to the second for a while. */
  void move(SimClient client, List<SimNode> nodes, long nanos) {
    if (nodes.size() > 1 && client.links().size() == this.nodes.size()) {
      moved = true;
      SimLink link = client.links().get(nodes.get(0).number());
      link.leadTo(nodes.get(1));
      at(now + nanos, null, () -> link.leadTo(link.node()));
    }
  }

  /** Whether an address ever led elsewhere: then a release may have gone there, too. */
  boolean hasMoved() {
    return moved;
  }

  /**
   * Looks whether so many nodes are without counters that no majority is left to read them from.
   */
  void countersMayBeLost() {
    countersLost |= nodes.stream().filter(SimNode::isUnread).count() > nodes.size() - quorum();
  }

  /**
   * Whether tokens rise whatever the clocks are: not where they are to be read and at some time no
   * majority was left that had the counters of before.
   */
  boolean ordersTokens() {
    return !plan.byReading() || !countersLost;
  }

  /**
   * Whether too few members of the fleet are left to let others in. An address that leads to
   * another server while others forget can cost a fleet more members than have failed; nothing is
   * granted then until somebody decides by hand, so that two halves never go on alone.
   */
  boolean hasTooFewMembers() {
    List<FleetRecord> records = nodes.stream().flatMap(node -> node.records().stream()).toList();
    return records.stream()
            .filter(record -> record.size() == nodes.size())
            .max(Comparator.comparingLong(FleetRecord::epoch))
            .map(
                latest ->
                    records.stream()
                        .filter(record -> record.key().equals(latest.key()))
                        .filter(record -> latest.members().contains(record.self()))
                        .map(FleetRecord::self)
                        .distinct()
                        .count())
            .orElse((long) quorum())
            .intValue()
        < quorum();
  }

  /** A client of another fleet comes, that is made of some of the nodes. */
  void neighbour(List<SimNode> some) {
    // When most nodes have forgotten, whoever comes first makes the fleet, of whichever nodes he
    // lists.
    if (some.isEmpty() || some.size() == nodes.size() || plan.weather().losesMajority()) {
      return;
    }
    int number = 100 + neighbours.size();
    SimClock clock = new SimClock(this, 0.0, number * 7_000_001L, 0);
    SimClient neighbour = new SimClient(this, number, clock, some);
    try {
      neighbour.start();
    } catch (LockException refused) {
      log.line(now, "NEIGHBOUR refused: " + refused.getMessage());
      return;
    }
    neighbours.add(neighbour);
  }

  /**
   * Somebody changes the set of the fleet's nodes.
   *
   * @param diesAfterNanos when he dies, or zero
   */
  void change(List<SimNode> target, long diesAfterNanos) {
    int number = 200 + changers.size();
    SimClient changer =
        new SimClient(this, number, new SimClock(this, 0.0, number * 7_000_001L, 0));
    changers.add(changer);
    sets.add(Set.copyOf(target.stream().map(SimNode::number).toList()));
    at(now, changer, () -> changer.change(target));
    if (diesAfterNanos > 0) {
      at(now + diesAfterNanos, null, changer::kill);
    }
  }

  /** The sets of nodes of which one or two decide: all nodes, and what they were changed to. */
  List<Set<Integer>> sets() {
    List<Set<Integer>> all = new ArrayList<>(sets);
    all.add(Set.copyOf(nodes.stream().map(SimNode::number).toList()));
    return all;
  }

  /** How many nodes make a majority at least, whatever the set of nodes is by now. */
  int leastQuorum() {
    return sets().stream().mapToInt(set -> set.size() / 2 + 1).min().orElse(quorum());
  }

  /** All addresses lead where they should, and the neighbours go. */
  void heal() {
    for (SimClient client : clients) {
      client.links().forEach(link -> link.leadTo(link.node()));
    }
    neighbours.forEach(neighbour -> neighbour.locks().close());
    changers.forEach(SimClient::kill);
  }

  int quorum() {
    return nodes.size() / 2 + 1;
  }

  long latency() {
    return plan.latency(weather);
  }
}
