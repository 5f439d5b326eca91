package dev.lukko.redlock;

import dev.lukko.spi.Capability;
import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.Failed;
import dev.lukko.spi.FairTicket;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.Inspection;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.NotVoting;
import dev.lukko.spi.ReleaseReply;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A node that could not be reached when its client was built, and so might be a server that votes
 * already: it grants nothing before it has told who it is.
 */
final class UnverifiedNode implements LockNode {
  private final LockNode node;
  private final Map<String, String> nodeByIdentity;
  private volatile boolean verified;

  /**
   * A node in doubt.
   *
   * @param nodeByIdentity the names of the client's nodes whose identity is known; grows with this
   *     one
   */
  UnverifiedNode(LockNode node, Map<String, String> nodeByIdentity) {
    this.node = node;
    this.nodeByIdentity = nodeByIdentity;
  }

  @Override
  public CompletionStage<GrantReply> grant(GrantRequest request) {
    return verified ? node.grant(request) : node.status().thenCompose(s -> grant(request, s));
  }

  private CompletionStage<GrantReply> grant(GrantRequest request, NodeStatus status) {
    if (status.identity().isEmpty()) {
      return CompletableFuture.completedFuture(new Failed(status.describe()));
    }
    String known = nodeByIdentity.putIfAbsent(status.identity().get(), name());
    if (known != null && !known.equals(name())) {
      NodeStatus twin =
          new NodeStatus(
              NodeStatus.State.UNFIT,
              Optional.empty(),
              "it is the same server as " + known + ", which votes already",
              Duration.ZERO,
              List.of());
      return CompletableFuture.completedFuture(new NotVoting(twin));
    }
    verified = true;
    return node.grant(request);
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
  public CompletionStage<ConfirmReply> confirm(LockEntry entry, long counter) {
    return node.confirm(entry, counter);
  }

  @Override
  public CompletionStage<ExtendReply> extend(LockEntry entry, long ttlMillis) {
    return node.extend(entry, ttlMillis);
  }

  @Override
  public CompletionStage<ExtendReply> repair(LockEntry entry, long ttlMillis, long counter) {
    return verified
        ? node.repair(entry, ttlMillis, counter)
        : CompletableFuture.completedFuture(new Failed("not verified yet"));
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
  public CompletionStage<NodeStatus> admit(NodeStatus seen, long quarantineMillis) {
    return node.admit(seen, quarantineMillis);
  }

  @Override
  public CompletionStage<Inspection> inspect(String resource) {
    return node.inspect(resource);
  }

  @Override
  public Watch watch(String resource, Runnable hint) {
    return node.watch(resource, hint);
  }

  @Override
  public void close() {
    node.close();
  }
}
