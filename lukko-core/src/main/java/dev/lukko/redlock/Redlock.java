package dev.lukko.redlock;

import dev.lukko.ClientClosedException;
import dev.lukko.ClientHealth;
import dev.lukko.Lease;
import dev.lukko.LockClient;
import dev.lukko.LockException;
import dev.lukko.LockReport;
import dev.lukko.LockRequest;
import dev.lukko.spi.Capability;
import dev.lukko.spi.LockNode;
import dev.lukko.time.Callbacks;
import dev.lukko.time.Ticker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;

/**
 * A lock on a quorum of independent nodes; with one node, a plain single-node lock by the same
 * code.
 *
 * <pre>{@code
 * LockClient locks = Redlock.over(RedisNode.connect("redis://127.0.0.1:6379"));
 * }</pre>
 *
 * <p><b>The algorithm</b> is Redlock [1], with the repairs that the discussion of it called for [2]
 * [3]. There are {@code N} nodes without replication between them; {@code Q = N/2 + 1} of them are
 * a quorum.
 *
 * <ol>
 *   <li>A round draws a fresh owner value, reads the clocks, and asks all nodes at once to store
 *       the owner under the resource's name for a ttl, if nothing is stored there. Every node has a
 *       timeout of its own; a round is decided by the first replies that can decide it.
 *   <li>It is won with {@code Q} grants if {@code ttl - elapsed - drift} is still above {@code
 *       minValidity}, where {@code drift = ttl * driftFactor + driftBuffer}. The elapsed time is
 *       that of this round, not of the call.
 *   <li>A lost round is released on all nodes, those that refused or failed included. Grants that
 *       arrive later are released again.
 *   <li>Between two rounds a call waits a random time, cut short by a hint of a node that the lock
 *       was released, and never longer than the refusing nodes say that it can be held.
 * </ol>
 *
 * <p><b>Fencing tokens.</b> A lock that rests on time cannot protect a resource from a holder that
 * was paused [2]. So every grant carries a number, and the resource refuses older ones. Each node
 * keeps a counter per resource that only rises, also over releases and expiries. A request proposes
 * the client's wall clock in microseconds, or one above the highest counter seen; a node that
 * grants moves its counter to the proposal, or one up if it is already there. If {@code Q} nodes
 * reply the same, highest number, it is the token: no extra round trip. Otherwise a number above
 * all replies is confirmed at {@code Q} nodes, each of which accepts only if the owner still holds
 * its entry there and its counter is lower. Two acquisitions that succeed share a node at which
 * both numbers were in force, one after the other; so tokens are unique and follow the real order
 * of the grants under any pause, delay or clock, as long as a majority of the nodes keeps its
 * counters. It is a multi-writer register in the manner of [4]; consensus is not needed for it.
 *
 * <p><b>Holding.</b> A lease is valid until {@code start + ttl - drift} on this process's monotonic
 * clock, and not beyond the same point on its wall clock. Nothing is asked to know that. It is lost
 * at once when so many nodes deny its entry that no quorum can hold it, and by a local timer at the
 * end of its validity though every node hangs. A lost lease is never revived.
 *
 * <p><b>What is promised.</b> With clocks whose rates differ by less than the drift, and nodes that
 * keep their data, at most one valid lease of a resource exists. Without that, two holders may
 * believe in their leases, and a resource that checks tokens still refuses the older one. Without a
 * majority of nodes nothing is granted.
 *
 * <p>This class is thread-safe. Callbacks, listeners, asynchronous bodies and the dependent stages
 * of returned futures run in callback threads ({@link RedlockBuilder#callbackExecutor}), or in the
 * thread that adds a stage to a future that has ended; what blocks there delays nothing of Lukko's.
 *
 * <ol>
 *   <li>S. Sanfilippo, "Distributed Locks with Redis", redis.io.
 *   <li>M. Kleppmann, "How to do distributed locking", 2016, martin.kleppmann.com.
 *   <li>S. Sanfilippo, "Is Redlock safe?", 2016, antirez.com.
 *   <li>H. Attiya, A. Bar-Noy, D. Dolev, "Sharing memory robustly in message-passing systems", JACM
 *       42(1), 1995; F. Ellen, P. Fatourou, E. Ruppert, "The space complexity of unbounded
 *       timestamps", 2008, for what ordered timestamps need.
 * </ol>
 */
public final class Redlock implements LockClient {
  private static final System.Logger LOG = System.getLogger(Redlock.class.getName());

  private final Context context;
  private final boolean closeNodes;
  private final boolean ownTimers;
  private final Runnable endOfThreads;
  private final Set<AcquireLoop> acquiring = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  /**
   * A client.
   *
   * @param closeNodes whether its end is that of its nodes
   * @param ownTimers whether its end is that of its timers
   * @param endOfThreads ends its timers, if they are its own, and its threads
   */
  Redlock(Context context, boolean closeNodes, boolean ownTimers, Runnable endOfThreads) {
    this.context = context;
    this.closeNodes = closeNodes;
    this.ownTimers = ownTimers;
    this.endOfThreads = endOfThreads;
  }

  /**
   * A client with default settings, which closes its nodes when it is closed.
   *
   * @throws IllegalArgumentException if there is no node, or two have the same name
   */
  public static Redlock over(LockNode... nodes) {
    return over(List.of(nodes));
  }

  /**
   * A client with default settings, which closes its nodes when it is closed.
   *
   * <pre>{@code
   * LockClient locks = Redlock.over(RedisNode.connectAll(one, two, three));
   * }</pre>
   *
   * @throws IllegalArgumentException if there is no node, or two have the same name
   */
  public static Redlock over(Collection<? extends LockNode> nodes) {
    return builder().nodes(nodes).build();
  }

  /** A builder with default settings. */
  public static RedlockBuilder builder() {
    return new RedlockBuilder();
  }

  @Override
  public Lease acquire(LockRequest request) {
    AcquireLoop loop = newLoop(request, Acquirer.blocking(context.settings.traceLeaks()));
    boolean mayBlock = !Thread.currentThread().isInterrupted();
    CompletableFuture<Lease> future = start(loop, mayBlock);
    if (mayBlock && Thread.currentThread().isInterrupted()) {
      throw interruptedInside(loop, future);
    }
    try {
      return future.get();
    } catch (InterruptedException interrupt) {
      LockException interrupted = loop.interrupt();
      Thread.currentThread().interrupt();
      future.cancel(false); // A grant that is on its way to this future is taken back.
      if (future.isDone() && !future.isCompletedExceptionally()) {
        return future.join(); // Granted in the very moment; the caller's to release.
      }
      throw interrupted;
    } catch (ExecutionException failure) {
      if (failure.getCause() instanceof LockException cause) {
        cause.fillInStackTrace(); // The trace of the caller, not of the thread that decided.
        throw cause;
      }
      throw new LockException("acquiring " + request.resources() + " failed", failure.getCause());
    }
  }

  /** The interrupt came while a node used this thread: what was granted meanwhile goes back. */
  private static LockException interruptedInside(
      AcquireLoop loop, CompletableFuture<Lease> future) {
    LockException interrupted = loop.interrupt();
    future.cancel(false); // A node may have gone on elsewhere, and grants in this very moment.
    if (future.isDone() && !future.isCompletedExceptionally()) {
      future.join().releaseAsync();
    }
    return interrupted;
  }

  @Override
  public CompletableFuture<Lease> acquireAsync(LockRequest request) {
    AcquireLoop loop = newLoop(request, Acquirer.asynchronous(context.settings.traceLeaks()));
    return Callbacks.handOut(start(loop, false), context.callbacks, Lease::releaseAsync);
  }

  private AcquireLoop newLoop(LockRequest request, Acquirer acquirer) {
    Objects.requireNonNull(request, "request");
    requireCapability(request.shared(), Capability.SHARED, "shared");
    requireCapability(request.fair(), Capability.FAIR, "fair");
    requireExtendable(request);
    String metadata = request.metadata().isEmpty() ? "" : " " + request.metadata();
    String description =
        context.settings.description() + "/" + Thread.currentThread().getName() + metadata;
    return new AcquireLoop(context, request, description, acquirer);
  }

  private CompletableFuture<Lease> start(AcquireLoop loop, boolean inCaller) {
    acquiring.add(loop);
    if (closed) {
      acquiring.remove(loop);
      return CompletableFuture.failedFuture(closedWhile(loop));
    }
    CompletableFuture<Lease> future = loop.start(inCaller);
    future.whenComplete((lease, failure) -> acquiring.remove(loop));
    return future;
  }

  private void requireCapability(boolean wanted, Capability capability, String field) {
    if (!wanted) {
      return;
    }
    for (LockNode node : context.nodes) {
      if (!node.capabilities().contains(capability)) {
        throw new IllegalArgumentException(
            field + " is true; the node " + node.name() + " has no support for it");
      }
    }
  }

  private void requireExtendable(LockRequest request) {
    long ttlNanos = context.checkedTtlNanos(request.ttl());
    long remaining = context.settings.extendAtRemainingNanos(ttlNanos);
    if (request.autoExtend() && remaining >= ttlNanos - context.settings.driftNanos(ttlNanos)) {
      throw new IllegalArgumentException(
          "extendWhenRemaining is "
              + context.settings.extendWhenRemaining()
              + "; it must be shorter than the ttl of "
              + request.ttl()
              + " less its drift");
    }
  }

  private static ClientClosedException closedWhile(AcquireLoop loop) {
    return new ClientClosedException(
        "the client is closed; lock " + loop.resources() + " was not acquired");
  }

  @Override
  public LockReport inspect(String resource) {
    checkName(resource);
    return questions().inspect(resource);
  }

  @Override
  public ClientHealth health() {
    return questions().health();
  }

  /**
   * Looks at nodes without being a client of theirs: nothing is admitted, checked or closed, so
   * that also nodes that could never form a quorum can be looked at.
   *
   * @param timeout how long to wait for answers at most
   */
  public static LockReport inspect(
      List<? extends LockNode> nodes, String resource, Duration timeout) {
    checkName(resource);
    return new NodeQuestions(List.copyOf(nodes), timeout, Ticker.system()).inspect(resource);
  }

  private static void checkName(String resource) {
    Objects.requireNonNull(LockRequest.builder(resource));
  }

  private NodeQuestions questions() {
    if (closed) {
      throw new ClientClosedException("the client is closed; its nodes are not asked");
    }
    return new NodeQuestions(
        context.nodes, Duration.ofNanos(context.settings.closeTimeoutNanos()), context.ticker);
  }

  @Override
  public void close() {
    synchronized (acquiring) {
      if (closed) {
        return;
      }
      closed = true;
    }
    for (AcquireLoop loop : acquiring) {
      loop.abort(closedWhile(loop));
    }
    endHolds();
    context.admission.close();
    if (ownTimers) {
      context.decisions.await(context.ticker, context.settings.closeTimeoutNanos());
      context.deciding.forEach(Round::expire); // Their timers end with the client.
    }
    if (closeNodes) {
      context.releases.await(context.ticker, context.settings.closeTimeoutNanos());
      context.nodes.forEach(LockNode::close);
    }
    endOfThreads.run();
  }

  /** Ends what is held, and waits until its holders have been told, or its validity is over. */
  private void endHolds() {
    long longestNanos = 0;
    List<CompletableFuture<Void>> ends = new ArrayList<>();
    for (Hold hold : context.holds) {
      longestNanos = Math.max(longestNanos, hold.remainingNanos());
      ends.add(hold.endWithClient());
    }
    CompletableFuture<Void> all =
        CompletableFuture.allOf(ends.toArray(new CompletableFuture<?>[0]));
    long boundNanos = longestNanos + context.settings.closeTimeoutNanos();
    if (!context.scheduler.await(all, Math.max(longestNanos, boundNanos))) {
      LOG.log(System.Logger.Level.WARNING, "a callback for the loss of a lease outlasts the lease");
    }
  }

  @Override
  public String toString() {
    return "Redlock" + context.nodes.stream().map(LockNode::name).toList();
  }
}
