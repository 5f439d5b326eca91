package dev.lukko;

import dev.lukko.time.Uninterrupted;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One term of a leader, and the lease of it as the leader sees it: one that its leader releases is
 * noticed. It is reported as begun once, then as ended once.
 */
final class Term implements Lease {
  private final Lease lease;
  private final Consumer<? super Lease> onElected;
  private final Consumer<? super Term> onReleased;
  private final AtomicBoolean begun = new AtomicBoolean();
  private final AtomicBoolean ended = new AtomicBoolean();
  private final CompletableFuture<Boolean> elected = new CompletableFuture<>();
  private final CompletableFuture<Void> over = new CompletableFuture<>();
  private volatile @Nullable Thread electing;
  private volatile @Nullable Thread ending;

  /**
   * A term that nobody has heard of.
   *
   * @param onElected the leader's callback
   * @param onReleased called when the leader has released it
   */
  Term(Lease lease, Consumer<? super Lease> onElected, Consumer<? super Term> onReleased) {
    this.lease = lease;
    this.onElected = onElected;
    this.onReleased = onReleased;
  }

  Lease lease() {
    return lease;
  }

  /** Reports its begin, unless that was done; true if the callback threw. */
  boolean begin() {
    if (!begun.compareAndSet(false, true)) {
      return false;
    }
    electing = Thread.currentThread();
    boolean failed = true;
    try {
      onElected.accept(this);
      failed = false;
    } catch (Throwable failure) {
      System.getLogger(Leadership.class.getName())
          .log(System.Logger.Level.ERROR, "onElected failed; the term ends", failure);
    } finally {
      electing = null;
      elected.complete(!failed);
    }
    return failed;
  }

  /** Whether it is for the caller to report its end. */
  boolean mayEnd() {
    return ended.compareAndSet(false, true);
  }

  /** Reports its end behind its begin, for which it waits no longer than a time. */
  void end(Consumer<? super LossReason> onLost, LossReason reason, long patienceNanos) {
    ending = Thread.currentThread();
    try {
      begin(); // If no thread could be had for it so far.
      if (electing != Thread.currentThread()) {
        Uninterrupted.await(elected, patienceNanos);
      }
      onLost.accept(reason);
    } catch (Throwable failure) {
      System.getLogger(Leadership.class.getName())
          .log(System.Logger.Level.ERROR, "onLost failed", failure);
    } finally {
      ending = null;
      over.complete(null);
    }
  }

  /** Ends when the leader has heard of the end, and its callback has returned. */
  CompletableFuture<Void> over() {
    return over;
  }

  /** Whether this thread is in a callback of this term, which must not wait for itself. */
  boolean isInCallback() {
    Thread current = Thread.currentThread();
    return electing == current || ending == current;
  }

  /** Why it ended, or {@link LossReason#RELEASED} if it is held. */
  LossReason reason() {
    try {
      lease.ensureValid();
      return LossReason.RELEASED;
    } catch (LeaseLostException lost) {
      return lost.reason();
    }
  }

  // ---- the lease

  @Override
  public List<String> resources() {
    return lease.resources();
  }

  @Override
  public String owner() {
    return lease.owner();
  }

  @Override
  public long fencingToken() {
    return lease.fencingToken();
  }

  @Override
  public Duration remaining() {
    return lease.remaining();
  }

  @Override
  public boolean isValid() {
    return lease.isValid();
  }

  @Override
  public void ensureValid() {
    lease.ensureValid();
  }

  @Override
  public boolean extend(Duration ttl) {
    return lease.extend(ttl);
  }

  @Override
  public CompletableFuture<Boolean> extendAsync(Duration ttl) {
    return lease.extendAsync(ttl);
  }

  @Override
  public ReleaseOutcome release() {
    try {
      return lease.release();
    } finally {
      onReleased.accept(this);
    }
  }

  @Override
  public CompletableFuture<ReleaseOutcome> releaseAsync() {
    CompletableFuture<ReleaseOutcome> outcome = lease.releaseAsync();
    onReleased.accept(this);
    return outcome;
  }

  @Override
  public void onLost(Consumer<? super LossReason> callback) {
    lease.onLost(callback);
  }

  @Override
  public CompletionStage<LossReason> lost() {
    return lease.lost();
  }

  @Override
  public void close() {
    try {
      lease.close();
    } finally {
      onReleased.accept(this);
    }
  }

  @Override
  public String toString() {
    return lease.toString();
  }
}
