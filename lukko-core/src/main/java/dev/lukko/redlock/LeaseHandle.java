package dev.lukko.redlock;

import dev.lukko.Lease;
import dev.lukko.LeaseLostException;
import dev.lukko.LossReason;
import dev.lukko.ReleaseOutcome;
import dev.lukko.time.Callbacks;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/** What the user holds; the state behind it lives on while timers and late replies need it. */
final class LeaseHandle implements Lease {
  private final Context context;
  private final Hold hold;

  /** Whether the holder has given the lease back; what the client's end does is not his doing. */
  private final AtomicBoolean givenBack = new AtomicBoolean();

  LeaseHandle(Context context, Hold hold) {
    this.context = context;
    this.hold = hold;
  }

  @Override
  public List<String> resources() {
    return hold.entry().resources();
  }

  @Override
  public String owner() {
    return hold.entry().owner();
  }

  @Override
  public long fencingToken() {
    return hold.token();
  }

  @Override
  public Duration remaining() {
    return Duration.ofNanos(Math.max(0, hold.remainingNanos()));
  }

  @Override
  public boolean isValid() {
    return hold.isValid();
  }

  @Override
  public void ensureValid() {
    if (!hold.isValid()) {
      throw hold.notHeld();
    }
  }

  @Override
  public boolean extend(Duration ttl) {
    try {
      return extending(ttl).join();
    } catch (CompletionException failure) {
      if (failure.getCause() instanceof LeaseLostException lost) {
        lost.fillInStackTrace(); // The trace of the caller, not of the thread that learned of it.
        throw lost;
      }
      throw failure;
    }
  }

  @Override
  public CompletableFuture<Boolean> extendAsync(Duration ttl) {
    return Callbacks.handOut(extending(ttl), context.callbacks);
  }

  private CompletableFuture<Boolean> extending(Duration ttl) {
    Objects.requireNonNull(ttl, "ttl");
    if (ttl.compareTo(Duration.ofMillis(1)) < 0) {
      throw new IllegalArgumentException("ttl is " + ttl + "; it must be at least 1 ms");
    }
    return hold.extend(context.checkedTtlNanos(wholeMillis(ttl)));
  }

  /** What the nodes are asked for; a validity that counts on more would outlive the entries. */
  private static Duration wholeMillis(Duration ttl) {
    return ttl.truncatedTo(ChronoUnit.MILLIS);
  }

  @Override
  public ReleaseOutcome release() {
    givenBack.set(true);
    return hold.releaseInCaller().join();
  }

  @Override
  public CompletableFuture<ReleaseOutcome> releaseAsync() {
    givenBack.set(true);
    return Callbacks.handOut(hold.release(), context.callbacks);
  }

  @Override
  public void onLost(Consumer<? super LossReason> callback) {
    hold.onLost(Objects.requireNonNull(callback, "callback"));
  }

  @Override
  public CompletionStage<LossReason> lost() {
    return hold.lost();
  }

  @Override
  public void close() {
    boolean first = givenBack.compareAndSet(false, true);
    ReleaseOutcome outcome = hold.releaseInCaller().join();
    if (first && outcome.status() == ReleaseOutcome.Status.NOT_HELD) {
      throw hold.notHeld(); // Lost before, or found lost by the nodes' answers.
    }
  }

  @Override
  public String toString() {
    return "Lease"
        + resources()
        + " token "
        + fencingToken()
        + (isValid() ? ", valid for " + remaining().toMillis() + " ms" : ", not valid");
  }
}
