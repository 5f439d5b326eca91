package dev.lukko.redlock;

import dev.lukko.spi.Capability;
import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.FairTicket;
import dev.lukko.spi.FleetChange;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.Inspection;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.spi.Unknown;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A node that keeps the rule never to throw, whatever the one behind it does: a store's mistake
 * costs its vote, and neither hangs a caller nor keeps the other nodes from being asked. A stage
 * that fails is passed on by the two verbs that every acquisition needs, grant and release; the
 * rounds count it as an unknown outcome.
 */
final class GuardedNode implements LockNode {
  private static final System.Logger LOG = System.getLogger(GuardedNode.class.getName());

  private final LockNode node;
  private final String name;
  private final OpenReleases releases;

  /**
   * A guard.
   *
   * @param releases where releases are noted while they are on their way
   */
  GuardedNode(LockNode node, OpenReleases releases) {
    this.node = node;
    this.name = node.name();
    this.releases = releases;
  }

  private static <R> CompletionStage<R> guarded(
      Supplier<? extends @Nullable CompletionStage<R>> verb,
      BiFunction<String, @Nullable Throwable, R> broken) {
    return started(verb, broken)
        .handle((reply, failure) -> reply != null ? reply : brokenReply(failure, broken));
  }

  /** A stage in any case; its end, which may be a failure, is for the caller to look at. */
  private static <R> CompletionStage<R> started(
      Supplier<? extends @Nullable CompletionStage<R>> verb,
      BiFunction<String, @Nullable Throwable, R> broken) {
    try {
      CompletionStage<R> stage = verb.get();
      if (stage == null) {
        return CompletableFuture.completedFuture(broken.apply("the node gave no stage", null));
      }
      return stage instanceof CompletableFuture<R> future ? future : relayed(stage);
    } catch (Throwable failure) { // An error in a store or its driver is no reason to stop.
      return CompletableFuture.completedFuture(brokenReply(failure, broken));
    }
  }

  /** A stage of another make may throw as well, here and not where its end is looked at. */
  private static <R> CompletionStage<R> relayed(CompletionStage<R> stage) {
    CompletableFuture<R> future = new CompletableFuture<>();
    stage.whenComplete(
        (reply, failure) -> {
          if (failure == null) {
            future.complete(reply);
          } else {
            future.completeExceptionally(failure);
          }
        });
    return future;
  }

  /** What stands for the reply of a stage that ended without one. */
  static <R> R brokenReply(
      @Nullable Throwable failure, BiFunction<String, @Nullable Throwable, R> broken) {
    return broken.apply(
        failure == null ? "the node gave no reply" : "the node threw " + failure, failure);
  }

  private void guarded(String verb, Runnable call) {
    try {
      call.run();
    } catch (Throwable failure) {
      LOG.log(System.Logger.Level.WARNING, name + " threw in " + verb, failure);
    }
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Set<Capability> capabilities() {
    try {
      return node.capabilities();
    } catch (Throwable failure) {
      LOG.log(System.Logger.Level.WARNING, name + " threw in capabilities", failure);
      return Set.of();
    }
  }

  @Override
  public CompletionStage<GrantReply> grant(GrantRequest request) {
    return started(() -> node.grant(request), Unknown::new);
  }

  @Override
  public CompletionStage<GrantReply> grantInCaller(GrantRequest request, long patienceNanos) {
    return started(() -> node.grantInCaller(request, patienceNanos), Unknown::new);
  }

  @Override
  public CompletionStage<ConfirmReply> confirm(LockEntry entry, long counter) {
    return guarded(() -> node.confirm(entry, counter), Unknown::new);
  }

  @Override
  public CompletionStage<ExtendReply> extend(LockEntry entry, long ttlMillis) {
    return guarded(() -> node.extend(entry, ttlMillis), Unknown::new);
  }

  @Override
  public CompletionStage<ExtendReply> repair(
      LockEntry entry, long ttlMillis, long counter, long lastMillis) {
    return guarded(() -> node.repair(entry, ttlMillis, counter, lastMillis), Unknown::new);
  }

  @Override
  public CompletionStage<ReleaseReply> release(LockEntry entry) {
    return noted(() -> node.release(entry));
  }

  @Override
  public CompletionStage<ReleaseReply> releaseInCaller(LockEntry entry, long patienceNanos) {
    CompletableFuture<Void> inside = new CompletableFuture<>();
    releases.add(inside); // There is no stage to note while the node uses this thread.
    try {
      return noted(() -> node.releaseInCaller(entry, patienceNanos));
    } finally {
      inside.complete(null);
    }
  }

  private CompletionStage<ReleaseReply> noted(Supplier<CompletionStage<ReleaseReply>> release) {
    CompletionStage<ReleaseReply> reply = started(release, Unknown::new);
    releases.add(reply);
    return reply;
  }

  @Override
  public void leave(LockEntry entry, FairTicket ticket) {
    guarded("leave", () -> node.leave(entry, ticket));
  }

  @Override
  public CompletionStage<NodeStatus> status() {
    return possible(node::status);
  }

  @Override
  public CompletionStage<NodeStatus> admit(NodeStatus seen, FleetChange change) {
    return possible(() -> node.admit(seen, change));
  }

  private static CompletionStage<NodeStatus> possible(
      Supplier<? extends @Nullable CompletionStage<NodeStatus>> question) {
    return guarded(question, (detail, cause) -> NodeStatus.unreachable(detail))
        .thenApply(Plausible::checked);
  }

  @Override
  public CompletionStage<Long> highestCounter() {
    return question(node::highestCounter);
  }

  @Override
  public CompletionStage<Inspection> inspect(String resource) {
    return question(() -> node.inspect(resource));
  }

  private static <R> CompletionStage<R> question(
      Supplier<? extends @Nullable CompletionStage<R>> verb) {
    try {
      CompletionStage<R> answer = verb.get();
      return answer == null
          ? CompletableFuture.failedFuture(new IllegalStateException("the node gave no stage"))
          : answer;
    } catch (Throwable failure) {
      return CompletableFuture.failedFuture(failure);
    }
  }

  @Override
  public Watch watch(String resource, Runnable hint) {
    Watch watch;
    try {
      watch = node.watch(resource, hint);
    } catch (Throwable failure) {
      LOG.log(System.Logger.Level.WARNING, name + " threw in watch", failure);
      return () -> {};
    }
    return () -> guarded("the end of a watch", () -> watch.close());
  }

  @Override
  public void close() {
    guarded("close", node::close);
  }
}
