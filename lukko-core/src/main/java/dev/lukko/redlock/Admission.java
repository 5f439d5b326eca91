package dev.lukko.redlock;

import dev.lukko.LockException;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.NodeStatus.State;
import dev.lukko.time.Scheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Decides from when on nodes may vote that are new, or that may have forgotten what they granted.
 *
 * <p>A minority of such nodes has forgotten: each is quarantined for the longest ttl of the fleet,
 * after which nothing that it may have granted can be valid. A majority is a new deployment, or a
 * restart of everything: it votes at once, with a warning, unless the client is strict; then it
 * waits too. The first client that writes a marker decides; the others find it decided.
 */
final class Admission {
  private static final System.Logger LOG = System.getLogger(Admission.class.getName());
  private static final long STATUS_TIMEOUT_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  /** A node that is always about to end its quarantine must not keep the client busy. */
  private static final long BETWEEN_REVIEWS_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  /** Two questions to all nodes, one after the other. */
  static final long LONGEST_REVIEW_NANOS = 2 * STATUS_TIMEOUT_NANOS;

  private static final String FORGETFUL =
      "it persists nothing, and quarantine is switched off: after a restart it grants again what is"
          + " still held";

  private static final String SILENT = "no answer within half a second";

  private final List<LockNode> nodes;
  private final boolean strict;
  private final long quarantineMillis;
  private final Scheduler scheduler;
  private final NodeStates states;
  private Scheduler.@Nullable Timer nextReview;
  private boolean closed;
  private @Nullable CompletableFuture<Void> running;

  /**
   * An admission.
   *
   * @param quarantineMillis how long a forgetful node must not vote; zero switches quarantine off
   */
  Admission(
      List<LockNode> nodes,
      boolean strict,
      long quarantineMillis,
      Scheduler scheduler,
      NodeStates states) {
    this.nodes = nodes;
    this.strict = strict;
    this.quarantineMillis = quarantineMillis;
    this.scheduler = scheduler;
    this.states = states;
  }

  /**
   * Looks at all nodes, bounded in time, and admits those that await it. Calls at the same time
   * share one look.
   */
  CompletableFuture<Void> review() {
    CompletableFuture<Void> review;
    synchronized (this) {
      if (running != null) {
        return running;
      }
      review = new CompletableFuture<>();
      running = review;
    }
    askAll(LockNode::status).thenAccept(seen -> decide(seen, review));
    return review;
  }

  private void decide(List<NodeStatus> seen, CompletableFuture<Void> review) {
    long awaiting = seen.stream().filter(NodeStatus::awaitsAdmission).count();
    boolean majority = awaiting >= Tally.quorumOf(nodes.size());
    long wait = majority && !strict ? 0 : quarantineMillis;
    if (majority && !strict && quarantineMillis > 0) {
      LOG.log(
          System.Logger.Level.WARNING,
          () ->
              awaiting
                  + " of "
                  + nodes.size()
                  + " nodes have no marker of their present run: taken for a new deployment, they"
                  + " vote at once (a strict client would wait for "
                  + Duration.ofMillis(quarantineMillis)
                  + ")");
    }
    Map<LockNode, NodeStatus> byNode = new HashMap<>();
    for (int i = 0; i < nodes.size(); i++) {
      byNode.put(nodes.get(i), seen.get(i));
    }
    askAll(
            node -> {
              NodeStatus status = byNode.getOrDefault(node, NodeStatus.unreachable(""));
              return status.awaitsAdmission()
                  ? node.admit(status, wait)
                  : CompletableFuture.completedFuture(status);
            })
        .thenAccept(
            admitted -> {
              conclude(admitted);
              synchronized (this) {
                running = null;
              }
              review.complete(null);
            });
  }

  /** Tells what was found, and looks again when the first quarantine ends. */
  private void conclude(List<NodeStatus> statuses) {
    long soonest = Long.MAX_VALUE;
    for (int i = 0; i < nodes.size(); i++) {
      NodeStatus status = statuses.get(i);
      states.saw(nodes.get(i), status);
      if (status.state() == State.QUARANTINED) {
        soonest = Math.min(soonest, Scheduler.toNanosSaturated(status.remaining()));
      }
    }
    synchronized (this) {
      if (nextReview != null) {
        nextReview.cancel();
        nextReview = null;
      }
      if (soonest != Long.MAX_VALUE && !closed) {
        nextReview = scheduler.schedule(this::review, Math.max(soonest, BETWEEN_REVIEWS_NANOS));
      }
    }
  }

  /** Looks no more. */
  synchronized void close() {
    closed = true;
    if (nextReview != null) {
      nextReview.cancel();
    }
  }

  /** Asks all nodes at once. */
  private static List<CompletableFuture<NodeStatus>> ask(
      List<LockNode> nodes, Function<LockNode, CompletionStage<NodeStatus>> question) {
    List<CompletableFuture<NodeStatus>> replies = new ArrayList<>(nodes.size());
    for (LockNode node : nodes) {
      CompletableFuture<NodeStatus> reply = new CompletableFuture<>();
      question
          .apply(node)
          .whenComplete(
              (status, failure) ->
                  reply.complete(
                      failure == null
                          ? status
                          : NodeStatus.unreachable("the node threw " + failure)));
      replies.add(reply);
    }
    return replies;
  }

  private static CompletableFuture<Void> all(List<CompletableFuture<NodeStatus>> replies) {
    return CompletableFuture.allOf(replies.toArray(new CompletableFuture<?>[0]));
  }

  /** The answers of all nodes; whoever is silent after half a second counts as unreachable. */
  private CompletableFuture<List<NodeStatus>> askAll(
      Function<LockNode, CompletionStage<NodeStatus>> question) {
    List<CompletableFuture<NodeStatus>> replies = ask(nodes, question);
    CompletableFuture<Void> all = all(replies);
    if (!all.isDone()) {
      Scheduler.Timer timer =
          scheduler.schedule(
              () -> replies.forEach(reply -> reply.complete(NodeStatus.unreachable(SILENT))),
              STATUS_TIMEOUT_NANOS);
      all.whenComplete((done, failure) -> timer.cancel());
    }
    return all.thenApply(done -> replies.stream().map(CompletableFuture::join).toList());
  }

  /** The same for a client that is being built and has no timers yet: waits in this thread. */
  private static List<NodeStatus> awaited(List<CompletableFuture<NodeStatus>> replies) {
    try {
      all(replies).get(STATUS_TIMEOUT_NANOS, TimeUnit.NANOSECONDS);
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt(); // The nodes that have not answered are in doubt.
    } catch (TimeoutException | ExecutionException someSilent) {
      LOG.log(System.Logger.Level.DEBUG, "not all nodes have told who they are", someSilent);
    }
    NodeStatus silent = NodeStatus.unreachable(SILENT);
    return replies.stream().map(reply -> reply.getNow(silent)).toList();
  }

  /**
   * Looks at all nodes before the client makes its first request, and refuses what can never be a
   * quorum: one server twice, a replica, and for a strict client whatever a node warns of.
   *
   * @return the nodes, with those in doubt that could not be reached yet
   * @throws LockException naming the nodes and the cause
   */
  static List<LockNode> verified(List<LockNode> nodes, boolean strict, boolean quarantine) {
    List<NodeStatus> statuses = awaited(ask(nodes, LockNode::status));
    Map<String, String> nodeByIdentity = new HashMap<>();
    List<LockNode> verified = new ArrayList<>(nodes.size());
    for (int i = 0; i < nodes.size(); i++) {
      LockNode node = nodes.get(i);
      NodeStatus status = statuses.get(i);
      refuseUnfit(node.name(), status, nodes.size(), nodeByIdentity);
      heed(node.name(), status.warnings(), strict);
      if (!quarantine && status.traits().contains(NodeStatus.Trait.FORGETFUL)) {
        heed(node.name(), List.of(FORGETFUL), strict);
      }
      verified.add(status.identity().isPresent() ? node : new UnverifiedNode(node, nodes));
    }
    return verified;
  }

  /**
   * Why a node can never be one of so many nodes; empty if it can, as far as it can be told from
   * this node alone.
   */
  static String unfitness(NodeStatus status, int nodes) {
    if (status.state() == State.UNFIT) {
      return status.detail();
    }
    return nodes > 1 && status.traits().contains(NodeStatus.Trait.CLUSTER_MEMBER)
        ? "it belongs to a cluster, which moves keys and fails over by itself; every node of a"
            + " quorum must be a server of its own"
        : "";
  }

  private static void refuseUnfit(
      String node, NodeStatus status, int nodes, Map<String, String> nodeByIdentity) {
    String unfitness = unfitness(status, nodes);
    if (!unfitness.isEmpty()) {
      throw new LockException("node " + node + " is unfit to vote: " + unfitness);
    }
    if (status.identity().isPresent()) {
      String identity = status.identity().get();
      String other = nodeByIdentity.put(identity, node);
      if (other != null) {
        throw new LockException(
            "nodes "
                + other
                + " and "
                + node
                + " are the same server ("
                + identity
                + "); it would vote twice");
      }
    }
  }

  private static void heed(String node, List<String> warnings, boolean strict) {
    for (String warning : warnings) {
      if (strict) {
        throw new LockException("node " + node + " is refused in strict mode: " + warning);
      }
      LOG.log(System.Logger.Level.WARNING, () -> "node " + node + ": " + warning);
    }
  }
}
