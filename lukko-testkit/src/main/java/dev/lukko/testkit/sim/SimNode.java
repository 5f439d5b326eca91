package dev.lukko.testkit.sim;

import dev.lukko.memory.InMemoryNode;
import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.FairTicket;
import dev.lukko.spi.FleetChange;
import dev.lukko.spi.FleetMemory;
import dev.lukko.spi.FleetRecord;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.ReleaseReply;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** A server: the node in memory on a clock of its own, which can hang, go down and forget. */
final class SimNode {
  private final World world;
  private final int number;
  private final SimClock clock;
  private final InMemoryNode node;
  private final Shadow shadow = new Shadow();
  private long hungUntil;
  private long downUntil;
  private long barredUntil;
  private boolean admitted = true;
  private long jumpedBackNanos;

  SimNode(World world, int number, SimClock clock) {
    this.world = world;
    this.number = number;
    this.clock = clock;
    this.node = new InMemoryNode("n" + number, clock);
  }

  int number() {
    return number;
  }

  String name() {
    return node.name();
  }

  /** Has a counter from before the history. */
  void begin(String resource, long counter) {
    node.raiseCounter(resource, counter);
    shadow.begin(resource, counter);
  }

  // ---- faults

  void goDown(long nanos) {
    downUntil = Math.max(downUntil, world.now() + nanos);
  }

  void hang(long nanos) {
    hungUntil = Math.max(hungUntil, world.now() + nanos);
  }

  void forget() {
    node.forget();
    shadow.forget();
    admitted = false;
    world.countersMayBeLost();
    if (!world.plan.weather().losesMajority() || world.plan.strict()) {
      barredUntil = world.now() + world.plan.shortestTrueNanos(world.plan.maxTtlNanos());
    }
  }

  void jump(long nanos) {
    clock.jump(nanos);
    jumpedBackNanos += Math.max(0, -nanos);
  }

  void heal() {
    downUntil = 0;
    hungUntil = 0;
  }

  long hungUntil() {
    return hungUntil;
  }

  long downUntil() {
    return downUntil;
  }

  /** By how much its clock was set back in all. */
  long jumpedBackNanos() {
    return jumpedBackNanos;
  }

  boolean isVoting() {
    return status().state() == NodeStatus.State.VOTING;
  }

  /** The records of all fleets that it serves. */
  List<FleetRecord> records() {
    FleetMemory memory = status().memory();
    return memory == null ? List.of() : memory.records();
  }

  /** When its present quarantine ends at the latest, in true time. */
  long quarantineLeftNanos() {
    return status().remaining().toNanos();
  }

  /** Whether it has none of the counters that it may have to follow. */
  boolean isUnread() {
    long nowMillis = clock.nanoTime() / 1_000_000;
    return !admitted || records().stream().anyMatch(record -> record.isUnread(nowMillis));
  }

  /** Whether it has forgotten and nobody has decided yet from when on it may vote. */
  boolean awaitsAdmission() {
    return !admitted;
  }

  /** The acquisitions that have a live entry here. */
  List<Acquisition> holders() {
    return shadow.holders(clock.nanoTime());
  }

  // ---- the verbs, applied

  GrantReply grant(GrantRequest request, Acquisition acquisition) {
    GrantReply reply = now(node.grant(request));
    LockEntry entry = request.entry();
    judge(
        shadow.granted(
            entry, request.ttlMillis(), reply, acquisition, world.plan.fair(), clock.nanoTime()));
    if (reply instanceof GrantReply.Granted) {
      if (world.now() < barredUntil) {
        world.violated(
            Check.QUARANTINE,
            "node " + number + " granted while something that it forgot could be valid");
      }
      acquisition.keeps(number, world.now(), request.ttlMillis() * 1_000_000L);
    }
    return reply;
  }

  ConfirmReply confirm(LockEntry entry, long counter) {
    ConfirmReply reply = now(node.confirm(entry, counter));
    judge(shadow.confirmed(entry, counter, reply, clock.nanoTime()));
    return reply;
  }

  ExtendReply extend(LockEntry entry, long ttlMillis, Acquisition acquisition) {
    ExtendReply reply = now(node.extend(entry, ttlMillis));
    judge(shadow.extended(entry, ttlMillis, reply, clock.nanoTime()));
    if (reply instanceof ExtendReply.Extended) {
      acquisition.keeps(number, world.now(), ttlMillis * 1_000_000L);
    }
    compare(entry);
    return reply;
  }

  ExtendReply repair(
      LockEntry entry, long ttlMillis, long counter, long lastMillis, Acquisition acquisition) {
    ExtendReply reply = now(node.repair(entry, ttlMillis, counter, lastMillis));
    judge(shadow.repaired(entry, ttlMillis, counter, reply, acquisition, clock.nanoTime()));
    if (reply instanceof ExtendReply.Extended) {
      acquisition.keeps(number, world.now(), ttlMillis * 1_000_000L);
    }
    return reply;
  }

  ReleaseReply release(LockEntry entry, Acquisition acquisition) {
    ReleaseReply reply = now(node.release(entry));
    judge(shadow.released(entry, reply, clock.nanoTime()));
    if (reply instanceof ReleaseReply.Released) {
      acquisition.deletions++;
    }
    compare(entry);
    return reply;
  }

  void leave(LockEntry entry, FairTicket ticket) {
    node.leave(entry, ticket);
    shadow.look(entry, clock.nanoTime());
  }

  NodeStatus status() {
    return now(node.status());
  }

  NodeStatus admit(NodeStatus seen, FleetChange change) {
    NodeStatus status = now(node.admit(seen, change));
    admitted |= status.state() != NodeStatus.State.UNMARKED;
    world.countersMayBeLost();
    return status;
  }

  long highestCounter() {
    return now(node.highestCounter());
  }

  LockNode.Watch watch(String resource, Runnable hint) {
    return node.watch(resource, hint);
  }

  private void judge(@Nullable String wrong) {
    if (wrong != null) {
      world.violated(Check.F4, "node " + number + " " + wrong);
    }
  }

  /** Whether the node still holds what it should: a release deletes nobody else's entry. */
  private void compare(LockEntry entry) {
    long now = clock.nanoTime();
    for (String resource : entry.resources()) {
      if (shadow.isHeld(resource, now) != node.isHeld(resource)) {
        world.violated(
            Check.F4, "node " + number + " lost or kept an entry of somebody else for " + resource);
      }
    }
  }

  private static <R> R now(CompletionStage<R> stage) {
    return stage.toCompletableFuture().join();
  }
}
