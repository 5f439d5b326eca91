package dev.lukko.testkit;

import dev.lukko.LockException;
import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.Failed;
import dev.lukko.spi.FairTicket;
import dev.lukko.spi.FleetChange;
import dev.lukko.spi.ForwardingNode;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.Inspection;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.ReleaseReply;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/**
 * A node with faults that a test switches on and off, in front of a real one.
 *
 * <p>What is held back is kept in order, requests as well as replies, and goes on when the test
 * says so, as it does behind a hung server or a slow network. Thread-safe.
 */
public final class FaultyNode extends ForwardingNode {
  private static final Inspection NOTHING =
      new Inspection(List.of(), OptionalLong.empty(), List.of());

  private final List<Runnable> held = new ArrayList<>();
  private Fault fault = Fault.NONE;
  private int requests;

  /** What happens to the requests from now on. */
  public enum Fault {
    /** They pass. */
    NONE,
    /** They are refused at once and certainly not applied. */
    DOWN,
    /** They are not sent, since a connection is still being made. */
    CONNECTING,
    /** They are held back before they reach the node. */
    HOLD_REQUESTS,
    /** They are applied; their replies are held back. */
    HOLD_REPLIES,
    /** They are lost before they reach the node, and never answered. */
    LOSE_REQUESTS,
    /** They are applied; their replies are lost. */
    LOSE_REPLIES
  }

  /** A node without faults for now. */
  public FaultyNode(LockNode node) {
    super(node);
  }

  /** Sets what happens to the requests from now on; what is held back already stays so. */
  public synchronized void fault(Fault next) {
    fault = next;
  }

  /** Lets everything that is held back go on, in order, and new requests pass. */
  public void heal() {
    fault(Fault.NONE);
    releaseHeld();
  }

  /** Lets everything that is held back go on, in order; the fault stays as it is. */
  public void releaseHeld() {
    List<Runnable> going;
    synchronized (this) {
      going = List.copyOf(held);
      held.clear();
    }
    going.forEach(Runnable::run);
  }

  /** How many requests were made, whatever became of them. */
  public synchronized int requests() {
    return requests;
  }

  private <R> CompletionStage<R> pass(Supplier<CompletionStage<R>> verb, R down) {
    return pass(verb, down, down);
  }

  private <R> CompletionStage<R> pass(Supplier<CompletionStage<R>> verb, R down, R connecting) {
    CompletableFuture<R> reply = new CompletableFuture<>();
    Fault now;
    synchronized (this) {
      requests++;
      now = fault;
      if (now == Fault.HOLD_REQUESTS) {
        held.add(() -> verb.get().thenAccept(reply::complete));
      }
    }
    switch (now) {
      case NONE -> {
        return verb.get();
      }
      case DOWN -> reply.complete(down);
      case CONNECTING -> reply.complete(connecting);
      case HOLD_REPLIES ->
          verb.get().thenAccept(answer -> holdUnlessHealed(() -> reply.complete(answer)));
      case LOSE_REPLIES -> verb.get().thenAccept(lost -> {});
      case HOLD_REQUESTS, LOSE_REQUESTS -> {}
    }
    return reply;
  }

  /** A reply that comes after the healing would wait for another one. */
  private void holdUnlessHealed(Runnable reply) {
    synchronized (this) {
      if (fault != Fault.NONE) {
        held.add(reply);
        return;
      }
    }
    reply.run();
  }

  private static Failed down() {
    return new Failed("connection refused (by the test)");
  }

  private static Failed connecting() {
    return new Failed(Failed.NOT_CONNECTED + ": the connection is being made (by the test)");
  }

  @Override
  public CompletionStage<GrantReply> grant(GrantRequest request) {
    return pass(() -> super.grant(request), down(), connecting());
  }

  @Override
  public CompletionStage<ConfirmReply> confirm(LockEntry entry, long counter) {
    return pass(() -> super.confirm(entry, counter), down());
  }

  @Override
  public CompletionStage<ExtendReply> extend(LockEntry entry, long ttlMillis) {
    return pass(() -> super.extend(entry, ttlMillis), down());
  }

  @Override
  public CompletionStage<ExtendReply> repair(
      LockEntry entry, long ttlMillis, long counter, long lastMillis) {
    return pass(() -> super.repair(entry, ttlMillis, counter, lastMillis), down());
  }

  @Override
  public CompletionStage<ReleaseReply> release(LockEntry entry) {
    return pass(() -> super.release(entry), down());
  }

  @Override
  public void leave(LockEntry entry, FairTicket ticket) {
    pass(
        () -> {
          super.leave(entry, ticket);
          return CompletableFuture.completedFuture(true);
        },
        false);
  }

  @Override
  public CompletionStage<Long> highestCounter() {
    return isDown()
        ? CompletableFuture.failedFuture(new LockException(down().detail()))
        : pass(super::highestCounter, 0L);
  }

  @Override
  public CompletionStage<Inspection> inspect(String resource) {
    return isDown()
        ? CompletableFuture.failedFuture(new LockException(down().detail()))
        : pass(() -> super.inspect(resource), NOTHING);
  }

  private synchronized boolean isDown() {
    return fault == Fault.DOWN;
  }

  @Override
  public CompletionStage<NodeStatus> status() {
    return pass(super::status, NodeStatus.unreachable("connection refused (by the test)"));
  }

  @Override
  public CompletionStage<NodeStatus> admit(NodeStatus seen, FleetChange change) {
    return pass(
        () -> super.admit(seen, change),
        NodeStatus.unreachable("connection refused (by the test)"));
  }
}
