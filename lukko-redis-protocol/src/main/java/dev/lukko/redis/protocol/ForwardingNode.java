package dev.lukko.redis.protocol;

import dev.lukko.spi.Capability;
import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.FairTicket;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.Inspection;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.ReleaseReply;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The public face of a {@link ScriptedNode}, which each driver's own node extends.
 *
 * <p>Thread-safe. Stages complete in a thread of the driver.
 */
public abstract class ForwardingNode implements LockNode {
  private final ScriptedNode node;

  /** A node that does what that one does. */
  protected ForwardingNode(ScriptedNode node) {
    this.node = node;
  }

  @Override
  public final String name() {
    return node.name();
  }

  @Override
  public final Set<Capability> capabilities() {
    return node.capabilities();
  }

  @Override
  public final CompletionStage<GrantReply> grant(GrantRequest request) {
    return node.grant(request);
  }

  @Override
  public final CompletionStage<ConfirmReply> confirm(LockEntry entry, long counter) {
    return node.confirm(entry, counter);
  }

  @Override
  public final CompletionStage<ExtendReply> extend(LockEntry entry, long ttlMillis) {
    return node.extend(entry, ttlMillis);
  }

  @Override
  public final CompletionStage<ExtendReply> repair(LockEntry entry, long ttlMillis, long counter) {
    return node.repair(entry, ttlMillis, counter);
  }

  @Override
  public final CompletionStage<ReleaseReply> release(LockEntry entry) {
    return node.release(entry);
  }

  /** Sends it once and waits for nothing: a place that is not given up ends by its own lease. */
  @Override
  public final void leave(LockEntry entry, FairTicket ticket) {
    node.leave(entry, ticket);
  }

  /**
   * {@inheritDoc}
   *
   * <p>The identity is the server's run id, which every start makes anew. An address that leads to
   * a server other than before, one that was up all the time, makes the node unfit until the former
   * server is back or the node is made anew.
   */
  @Override
  public final CompletionStage<NodeStatus> status() {
    return node.status();
  }

  @Override
  public final CompletionStage<NodeStatus> admit(NodeStatus seen, long quarantineMillis) {
    return node.admit(seen, quarantineMillis);
  }

  @Override
  public final CompletionStage<Inspection> inspect(String resource) {
    return node.inspect(resource);
  }

  /**
   * {@inheritDoc}
   *
   * <p>Hints come by a connection of their own, one for all resources, made with the first watch
   * and again whenever it breaks. They are called in a thread of the driver.
   */
  @Override
  public final Watch watch(String resource, Runnable hint) {
    return node.watch(resource, hint);
  }

  /** Begins to end the node and waits for nothing; null if it has begun already. */
  protected final @Nullable CompletableFuture<Void> end() {
    return node.end();
  }

  /** Ends the node and waits up to 3 s for it; not to be called in a thread of the driver. */
  @Override
  public void close() {
    node.close();
  }

  /** The kind of node, its name, and whether it is connected. */
  @Override
  public final String toString() {
    return getClass().getSimpleName() + "[" + node + "]";
  }
}
