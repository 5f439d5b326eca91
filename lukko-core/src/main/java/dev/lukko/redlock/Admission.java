package dev.lukko.redlock;

import dev.lukko.LockException;
import dev.lukko.spi.FleetChange;
import dev.lukko.spi.FleetRecord;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.NodeStatus.State;
import dev.lukko.time.Scheduler;
import dev.lukko.time.Ticker;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Looks at all nodes, decides which of them may vote in the client's fleet, and from when on those
 * may that are new or may have forgotten what they granted; {@link FleetPlan} says what follows
 * from a look.
 *
 * <p>A minority of forgetful nodes is quarantined for the longest ttl of the fleet, after which
 * nothing that they may have granted can be valid: they would not have kept an entry for longer
 * either. A majority is a new deployment, or a restart of everything: it votes at once, with a
 * warning, unless the client is strict; then it waits too. The first client that writes a record
 * decides; the others find it decided.
 */
final class Admission {
  private static final System.Logger LOG = System.getLogger(Admission.class.getName());
  private static final long STATUS_TIMEOUT_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  /** A node that is always about to end its quarantine must not keep the client busy. */
  private static final long BETWEEN_REVIEWS_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  /** A look, and the changes after it, in the usual case. */
  static final long LONGEST_REVIEW_NANOS = 2 * STATUS_TIMEOUT_NANOS;

  /** After so many changes, one after the other, others must be changing the nodes as well. */
  private static final int MOST_STEPS = 8;

  /** When nodes are looked at again of which one is not as it should be. */
  private static final long AGAIN_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** How often a call that cannot do without such a node has them looked at, at the most. */
  private static final long SOON_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

  /** How long a node may take to tell the highest of all its counters. */
  private static final long READING_NANOS = TimeUnit.MINUTES.toNanos(2);

  private static final String FORGETFUL =
      "it persists nothing, and quarantine is switched off: after a restart it grants again what"
          + " is still held";

  private static final String UNIDENTIFIED =
      "it tells no identity of its store but its own name: the same store under another name would"
          + " vote twice";

  private static final String SILENT = "no answer within half a second";

  private final List<LockNode> nodes;
  private final FleetPlan.Client client;
  private final Ticker ticker;
  private final Scheduler scheduler;
  private final NodeStates states;
  private final Set<String> overlapsTold = new HashSet<>();
  private volatile Electorate electorate;
  private String fleetKey = "";
  private Scheduler.@Nullable Timer nextReview;
  private boolean closed;
  private @Nullable CompletableFuture<Void> running;
  private long endedNanos;
  private @Nullable CompletableFuture<@Nullable CounterReading> reading;
  private @Nullable CounterReading counters;

  /**
   * An admission.
   *
   * @param fleet the name of the fleet, or null if it was given none
   * @param quarantineMillis how long a forgetful node must not vote; zero switches quarantine off
   * @param byReading whether it votes again only when the counters of a majority have been read
   */
  Admission(
      List<LockNode> nodes,
      @Nullable String fleet,
      boolean strict,
      long quarantineMillis,
      boolean byReading,
      Ticker ticker,
      Scheduler scheduler,
      NodeStates states) {
    this.nodes = nodes;
    this.ticker = ticker;
    this.client =
        new FleetPlan.Client(
            nodes.stream().map(LockNode::name).toList(),
            fleet,
            strict,
            quarantineMillis,
            byReading);
    this.scheduler = scheduler;
    this.states = states;
    this.electorate = Electorate.ofUnknown(nodes.size());
  }

  /**
   * The places of all nodes, and whose votes count. It is one state of the fleet: a round asks all
   * nodes by the same one, so that its votes are those of one epoch.
   */
  Electorate electorate() {
    return electorate;
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
      if (closed) {
        return CompletableFuture.completedFuture(null);
      }
      review = new CompletableFuture<>();
      running = review;
    }
    askAll(LockNode::status).thenAccept(seen -> step(seen, 0, review));
    return review;
  }

  /**
   * Whether a node whose vote did not count may have another place soon: a look is under way, or
   * the last one was some time ago.
   */
  synchronized boolean mayChange() {
    return running != null || ticker.nanoTime() - endedNanos > SOON_NANOS;
  }

  /**
   * Begins with what the nodes have told while the client was built, and waits a moment for what
   * follows from it: a new deployment votes before its first lock is asked for.
   *
   * @throws LockException if it is not clear what fleet it is, or if another one is in the way of a
   *     strict client
   */
  void begin(List<NodeStatus> seen) {
    FleetPlan plan = FleetPlan.of(client, seen, electorate.seats(), "");
    if (!plan.ambiguity().isEmpty()) {
      throw new LockException(plan.ambiguity());
    }
    for (FleetPlan.Overlap overlap : plan.overlaps()) {
      if (client.strict() && !overlap.mayBeLeftOver()) {
        throw new LockException("refused in strict mode: " + overlap.describe());
      }
    }
    FleetPlan.Difference difference = plan.difference();
    if (client.strict() && difference != null) {
      throw new LockException("refused in strict mode: " + difference.describe());
    }
    for (int i = 0; i < nodes.size(); i++) {
      for (String warning : warnings(seen.get(i), nodes.size(), client.quarantineMillis() > 0)) {
        states.warned(nodes.get(i), warning);
      }
    }
    CompletableFuture<Void> review = new CompletableFuture<>();
    synchronized (this) {
      running = review;
    }
    step(seen, 0, review);
    try {
      review.get(STATUS_TIMEOUT_NANOS, TimeUnit.NANOSECONDS);
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt(); // It goes on by itself.
    } catch (TimeoutException | ExecutionException slow) {
      LOG.log(System.Logger.Level.DEBUG, "not all nodes have been admitted yet", slow);
    }
  }

  private void step(List<NodeStatus> seen, int steps, CompletableFuture<Void> review) {
    try {
      takeStep(seen, steps, review);
    } catch (RuntimeException mistake) {
      LOG.log(System.Logger.Level.ERROR, "internal error in a look at the nodes", mistake);
      end(review); // Nobody may wait for it without end.
    }
  }

  private void end(CompletableFuture<Void> review) {
    synchronized (this) {
      running = null;
      endedNanos = ticker.nanoTime();
    }
    review.complete(null);
  }

  private void takeStep(List<NodeStatus> seen, int steps, CompletableFuture<Void> review) {
    FleetPlan plan;
    CounterReading told;
    synchronized (this) {
      told = counters;
      counters = null;
      plan = FleetPlan.of(client, seen, electorate.seats(), fleetKey);
      electorate = electorate.after(plan);
      FleetRecord fleet = plan.fleet();
      fleetKey = fleet == null ? fleetKey : fleet.key();
    }
    if (!plan.note().isEmpty()) {
      LOG.log(System.Logger.Level.WARNING, plan::note);
    }
    plan.overlaps().forEach(this::tell);
    tell(plan.difference());
    boolean settled = !plan.hasChanges() && !plan.looksAgain();
    FleetRecord fleet = plan.fleet();
    CounterReading returning =
        settled
                && told != null
                && fleet != null
                && plan.awaitsReading()
                && told.isStillTrue(plan.seats(), fleet)
            ? told
            : null;
    if ((settled && returning == null) || steps >= MOST_STEPS) {
      conclude(plan);
      end(review);
      if (settled && told == null && fleet != null && plan.awaitsReading()) {
        read(plan.seats(), fleet);
      }
      return;
    }
    Map<LockNode, Integer> indices = new HashMap<>();
    nodes.forEach(node -> indices.put(node, indices.size()));
    askAll(
            node -> {
              int index = indices.getOrDefault(node, 0);
              FleetChange change =
                  returning == null
                      ? plan.change(index)
                      : plan.returned(index, returning.highest());
              return change == null ? node.status() : node.admit(seen.get(index), change);
            })
        .thenAccept(after -> step(after, steps + 1, review));
  }

  /**
   * Reads the counters of a majority for servers that have waited long enough: whatever was granted
   * before they forgot has ended, so no token can still be made of their votes, and every token
   * that was made stands at a majority of those that are asked. Beside the looks, since a large
   * server takes a while.
   */
  private void read(List<Seat> seats, FleetRecord fleet) {
    CompletableFuture<@Nullable CounterReading> begun;
    synchronized (this) {
      if (reading != null || closed) {
        return;
      }
      begun =
          CounterReading.of(
              nodes,
              seats,
              fleet,
              scheduler,
              READING_NANOS,
              (node, failure) ->
                  LOG.log(
                      System.Logger.Level.WARNING,
                      () ->
                          "the counters of node "
                              + node.name()
                              + " could not be read, for which others wait to vote again: "
                              + failure));
      reading = begun;
    }
    begun.whenComplete(
        (told, failure) -> {
          synchronized (this) {
            reading = null;
            counters = told;
            if (closed) {
              return;
            }
          }
          if (failure != null) {
            LOG.log(System.Logger.Level.WARNING, "counters could not be read", failure);
          }
          if (told != null) {
            review();
          }
        });
  }

  private void tell(FleetPlan.Overlap overlap) {
    synchronized (this) {
      if (!overlapsTold.add(overlap.node() + " " + overlap.other().key())) {
        return;
      }
    }
    LOG.log(System.Logger.Level.WARNING, overlap::describe);
    states.overlap(overlap);
  }

  private void tell(FleetPlan.@Nullable Difference difference) {
    synchronized (this) {
      if (difference == null || !overlapsTold.add(difference.describe())) {
        return;
      }
    }
    LOG.log(System.Logger.Level.WARNING, difference::describe);
    states.differs(difference);
  }

  /** Tells what was found, and looks again when the first quarantine ends. */
  private void conclude(FleetPlan plan) {
    long soonest = Long.MAX_VALUE;
    for (int i = 0; i < nodes.size(); i++) {
      Seat seat = plan.seats().get(i);
      NodeStatus status = seat.status();
      states.saw(nodes.get(i), status);
      if (status.state() == State.QUARANTINED) {
        soonest =
            Math.min(
                soonest,
                status.remaining().isZero()
                    ? AGAIN_NANOS
                    : Scheduler.toNanosSaturated(status.remaining()));
      } else if (seat.seen() == null && status.identity().isPresent()) {
        soonest = Math.min(soonest, AGAIN_NANOS);
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
    if (reading != null) {
      reading.cancel(false);
    }
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
    return askAll(nodes, scheduler, STATUS_TIMEOUT_NANOS, SILENT, question);
  }

  /** The answers of all nodes; whoever is silent for so long counts as unreachable. */
  static CompletableFuture<List<NodeStatus>> askAll(
      List<LockNode> nodes,
      Scheduler scheduler,
      long timeoutNanos,
      String silent,
      Function<LockNode, CompletionStage<NodeStatus>> question) {
    List<CompletableFuture<NodeStatus>> replies = ask(nodes, question);
    CompletableFuture<Void> all = all(replies);
    if (!all.isDone()) {
      Scheduler.Timer timer =
          scheduler.schedule(
              () -> replies.forEach(reply -> reply.complete(NodeStatus.unreachable(silent))),
              timeoutNanos);
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
   * @return what the nodes have told
   * @throws LockException naming the nodes and the cause
   */
  static List<NodeStatus> verified(List<LockNode> nodes, boolean strict, boolean quarantine) {
    List<NodeStatus> statuses = awaited(ask(nodes, LockNode::status));
    Map<String, String> nodeByIdentity = new HashMap<>();
    for (int i = 0; i < nodes.size(); i++) {
      LockNode node = nodes.get(i);
      NodeStatus status = statuses.get(i);
      refuseUnfit(node.name(), status, nodes.size(), nodeByIdentity);
      heed(node.name(), warnings(status, nodes.size(), quarantine), strict);
    }
    return statuses;
  }

  /** Whatever about a node weakens what is promised. */
  private static List<String> warnings(NodeStatus status, int nodes, boolean quarantine) {
    List<String> warnings = new ArrayList<>(status.warnings());
    if (nodes > 1 && status.traits().contains(NodeStatus.Trait.UNIDENTIFIED)) {
      warnings.add(UNIDENTIFIED);
    }
    if (!quarantine && status.traits().contains(NodeStatus.Trait.FORGETFUL)) {
      warnings.add(FORGETFUL);
    }
    return warnings;
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
