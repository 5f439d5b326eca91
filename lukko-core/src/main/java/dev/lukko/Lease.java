package dev.lukko;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/**
 * A granted lock for a limited time: the live, thread-safe handle of one acquisition.
 *
 * <p>Extending moves its end; the variable in a try-with-resources stays the right one. A lease
 * that was lost is never revived, and its token and owner stay its own whatever happens to the
 * resource afterwards.
 *
 * <p><b>Validity is local.</b> {@link #isValid()} compares clocks and asks no server. It is false
 * from the moment at which the nodes might give the lock to somebody else, with the drift already
 * subtracted, even if this process was paused and no timer had a chance to run. It cannot cover the
 * time between the check and the write that follows: for that, hand the {@linkplain #fencingToken()
 * fencing token} to the resource.
 */
public interface Lease extends AutoCloseable {

  /** The locked names, sorted, without duplicates. */
  List<String> resources();

  /** The random value, with readable metadata behind it, that proves the ownership to the nodes. */
  String owner();

  /**
   * A positive number that is higher than that of every earlier grant of any of the {@linkplain
   * #resources() resources}; only shared holds may have a number together. It never changes during
   * a hold.
   */
  long fencingToken();

  /** How long the lease is valid if nobody extends it; zero when it is not valid. */
  Duration remaining();

  /** Whether the lease may be relied upon now. Local and cheap; never waits. */
  boolean isValid();

  /**
   * Returns if the lease is valid, and throws otherwise.
   *
   * @throws LeaseLostException if it was lost or released
   */
  void ensureValid();

  /**
   * Asks the nodes to keep the lock for {@code ttl} from now on, and waits for their decision,
   * bounded by the node timeout.
   *
   * @param ttl at least 1 ms, and longer than the drift that the client subtracts
   * @return true if a quorum extended the lease: its validity counts from the start of this call;
   *     false if no quorum answered in time: the lease stays valid until its present end, and
   *     another call may succeed
   * @throws LeaseLostException if the lease is lost already, was released, or is lost now because
   *     too many nodes answered that they do not hold it
   * @throws IllegalArgumentException if the ttl is out of range
   */
  boolean extend(Duration ttl);

  /** {@link #extend} without blocking a thread. */
  CompletableFuture<Boolean> extendAsync(Duration ttl);

  /**
   * Gives the lock back on all nodes. Idempotent: every call, from any thread, gives the outcome of
   * the first one. Returns as soon as the outcome is certain, at most one node timeout later, and
   * at once when the lease has already expired. Never throws; an interrupt does not stop it and its
   * flag is kept.
   */
  ReleaseOutcome release();

  /** {@link #release} without blocking a thread. */
  CompletableFuture<ReleaseOutcome> releaseAsync();

  /**
   * Registers a callback for the loss of this lease. It is called exactly once: when a majority of
   * the nodes is known to have lost the entry, and in any case at the end of the validity, though
   * every node hangs. It is called at once if the lease is lost already, also when the client is
   * closed, and never after a release. It runs in a callback thread of the client, behind the
   * callbacks of this lease that were registered before, and may block; what it throws is logged.
   *
   * <p>A registered callback keeps the lease: it is extended, if it is to be, though nobody refers
   * to this object any more. Without one, a lease that was not released and that nobody refers to
   * is reported as leaked, is not extended any more, and ends by its ttl.
   */
  void onLost(Consumer<? super LossReason> callback);

  /**
   * The loss as a stage: completes once with the reason when the lease is lost, behind the
   * callbacks. It stays incomplete when the lease is released first. Asking for it keeps the lease
   * as a callback does.
   */
  CompletionStage<LossReason> lost();

  /**
   * Releases the lease.
   *
   * @throws LeaseLostException if the lease was lost before it was closed, so that a critical
   *     section which outlived its lock does not end in silence. In a try-with-resources whose body
   *     threw, it is attached to the body's exception as suppressed. An unreachable node is no
   *     error here: the entry ends by its ttl, and the outcome is logged and sent to the listeners.
   */
  @Override
  void close();
}
