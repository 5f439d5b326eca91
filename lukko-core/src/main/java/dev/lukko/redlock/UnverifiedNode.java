package dev.lukko.redlock;

import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.Failed;
import dev.lukko.spi.ForwardingNode;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.NotVoting;
import dev.lukko.spi.ReleaseReply;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * A node that could not be reached when its client was built, and so might be a server that votes
 * already: it grants nothing before it has told who it is.
 */
final class UnverifiedNode extends ForwardingNode {
  private final List<LockNode> nodes;
  private final DeferredGrants deferred = new DeferredGrants();
  private volatile boolean verified;

  /**
   * A node in doubt.
   *
   * @param nodes all nodes of the client, this one included
   */
  UnverifiedNode(LockNode node, List<LockNode> nodes) {
    super(node);
    this.nodes = nodes;
  }

  @Override
  public CompletionStage<GrantReply> grant(GrantRequest request) {
    return verified
        ? node().grant(request)
        : deferred.send(
            request, node().status().thenCompose(this::verify), () -> node().grant(request));
  }

  @Override
  public CompletionStage<GrantReply> grantInCaller(GrantRequest request, long patienceNanos) {
    return verified ? node().grantInCaller(request, patienceNanos) : grant(request);
  }

  /**
   * Asks the others anew: they may have been restarted, under another identity, since the start.
   * Gives the reply to grants as long as the node may not be asked for them, else null.
   */
  private CompletionStage<@Nullable GrantReply> verify(NodeStatus status) {
    if (status.identity().isEmpty()) {
      // The detail begins with the class of the fault: a connection that is being made is no
      // refusal.
      boolean unreachable = status.state() == NodeStatus.State.UNREACHABLE;
      return CompletableFuture.completedFuture(
          new Failed(unreachable ? status.detail() : status.describe()));
    }
    String unfitness = Admission.unfitness(status, nodes.size());
    if (!unfitness.isEmpty()) {
      return refuse(unfitness);
    }
    CompletionStage<Optional<LockNode>> twin = CompletableFuture.completedFuture(Optional.empty());
    for (LockNode other : nodes) {
      if (other != node()) {
        twin =
            twin.thenCombine(
                other.status(),
                (found, seen) ->
                    seen.identity().equals(status.identity()) ? Optional.of(other) : found);
      }
    }
    return twin.thenCompose(
        found -> {
          if (found.isPresent()) {
            return refuse(
                "it is the same server as " + found.get().name() + "; it would vote twice");
          }
          verified = true;
          return CompletableFuture.completedFuture(null);
        });
  }

  private static CompletionStage<@Nullable GrantReply> refuse(String why) {
    NodeStatus unfit =
        new NodeStatus(NodeStatus.State.UNFIT, Optional.empty(), why, Duration.ZERO, List.of());
    return CompletableFuture.completedFuture(new NotVoting(unfit));
  }

  @Override
  public CompletionStage<ExtendReply> repair(LockEntry entry, long ttlMillis, long counter) {
    return verified
        ? node().repair(entry, ttlMillis, counter)
        : CompletableFuture.completedFuture(new Failed("not verified yet"));
  }

  @Override
  public CompletionStage<ReleaseReply> releaseInCaller(LockEntry entry, long patienceNanos) {
    return deferred.release(entry, () -> node().releaseInCaller(entry, patienceNanos));
  }

  @Override
  public CompletionStage<ReleaseReply> release(LockEntry entry) {
    return deferred.release(entry, () -> node().release(entry));
  }
}
