package dev.lukko.spi;

import java.util.Set;
import java.util.concurrent.CompletionStage;

/**
 * A node that hands every call on to another node, as a base for those that add something to it:
 * figures, traces, faults for a test.
 *
 * <p>A subclass overrides the verbs that it adds to, and calls {@code super} or {@link #node()} for
 * the rest of the work. All methods of {@link LockNode} are forwarded, also those that have a
 * default there: whatever the other node can do, this one can. Each counts for itself: a subclass
 * that changes one verb finds the others as they were. Only {@link #grantInCaller} and {@link
 * #releaseInCaller} come to {@link #grant} and {@link #release} of this node, so that what a
 * subclass adds there is never stepped around; one that is to let the caller's thread through
 * overrides them as well.
 *
 * <p>The rules of {@link LockNode} bind the subclass too. Above all: a request that came once is
 * handed on once, in the order in which it came; what the subclass does takes no time worth
 * speaking of in the caller's thread, nor in the thread that completes a stage, which must not be
 * blocked; and nothing is thrown.
 *
 * <p>As thread-safe as the other node; adds no threads.
 */
public abstract class ForwardingNode implements LockNode {
  private final LockNode node;

  /**
   * A node that does what that one does.
   *
   * @param node the node behind this one, which is closed with it
   */
  protected ForwardingNode(LockNode node) {
    this.node = node;
  }

  /** The node behind this one. */
  protected final LockNode node() {
    return node;
  }

  @Override
  public String name() {
    return node.name();
  }

  @Override
  public Set<Capability> capabilities() {
    return node.capabilities();
  }

  @Override
  public CompletionStage<GrantReply> grant(GrantRequest request) {
    return node.grant(request);
  }

  @Override
  public CompletionStage<ConfirmReply> confirm(LockEntry entry, long counter) {
    return node.confirm(entry, counter);
  }

  @Override
  public CompletionStage<ExtendReply> extend(LockEntry entry, long ttlMillis) {
    return node.extend(entry, ttlMillis);
  }

  @Override
  public CompletionStage<ExtendReply> repair(
      LockEntry entry, long ttlMillis, long counter, long lastMillis) {
    return node.repair(entry, ttlMillis, counter, lastMillis);
  }

  @Override
  public CompletionStage<ReleaseReply> release(LockEntry entry) {
    return node.release(entry);
  }

  @Override
  public void leave(LockEntry entry, FairTicket ticket) {
    node.leave(entry, ticket);
  }

  @Override
  public CompletionStage<NodeStatus> status() {
    return node.status();
  }

  @Override
  public CompletionStage<NodeStatus> admit(NodeStatus seen, FleetChange change) {
    return node.admit(seen, change);
  }

  @Override
  public CompletionStage<Long> highestCounter() {
    return node.highestCounter();
  }

  @Override
  public CompletionStage<Inspection> inspect(String resource) {
    return node.inspect(resource);
  }

  @Override
  public Watch watch(String resource, Runnable hint) {
    return node.watch(resource, hint);
  }

  /** Closes the node behind this one. */
  @Override
  public void close() {
    node.close();
  }

  /** The kind of node, and the name of the one behind it. */
  @Override
  public String toString() {
    return getClass().getSimpleName() + "[" + node.name() + "]";
  }
}
