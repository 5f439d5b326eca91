package dev.lukko.postgres;

import dev.lukko.Lease;
import dev.lukko.LeaseLostException;
import dev.lukko.LossReason;
import dev.lukko.ReleaseOutcome;
import dev.lukko.time.Scheduler;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/**
 * The handle that the caller has. Nothing inside refers to it, so that one that was forgotten can
 * be collected, and its hold be let go of.
 */
final class AdvisoryLease implements Lease {
  private final Hold hold;
  private final List<String> resources;
  private final Holds holds;

  AdvisoryLease(Hold hold, List<String> resources, Holds holds) {
    this.hold = hold;
    this.resources = resources;
    this.holds = holds;
  }

  @Override
  public List<String> resources() {
    return resources;
  }

  @Override
  public String owner() {
    return hold.identity().owner();
  }

  @Override
  public long fencingToken() {
    return hold.token();
  }

  @Override
  public Duration remaining() {
    long left = hold.isHeld() ? hold.remainingNanos() : 0;
    return left > 0 ? Duration.ofNanos(left) : Duration.ZERO;
  }

  @Override
  public boolean isValid() {
    if (!hold.isHeld()) {
      return false;
    }
    if (hold.remainingNanos() > 0) {
      return true;
    }
    holds.expire(hold);
    return false;
  }

  @Override
  public void ensureValid() {
    if (!isValid()) {
      throw lostException();
    }
  }

  private LeaseLostException lostException() {
    return new LeaseLostException(resources, hold.token(), hold.end().orElse(LossReason.EXPIRED));
  }

  @Override
  public boolean extend(Duration ttl) {
    long nanos = checkedTtl(ttl);
    ensureValid();
    boolean extended = holds.extend(hold, nanos);
    if (!extended) {
      ensureValid();
    }
    return extended;
  }

  @Override
  public CompletableFuture<Boolean> extendAsync(Duration ttl) {
    checkedTtl(ttl);
    return holds.extendAsync(() -> extend(ttl));
  }

  private static long checkedTtl(Duration ttl) {
    if (ttl == null || ttl.compareTo(Duration.ofMillis(1)) < 0) {
      throw new IllegalArgumentException("ttl is " + ttl + "; it must be at least 1 ms");
    }
    return Scheduler.toNanosSaturated(ttl);
  }

  @Override
  public ReleaseOutcome release() {
    return holds.release(hold);
  }

  @Override
  public CompletableFuture<ReleaseOutcome> releaseAsync() {
    return holds.releaseAsync(hold);
  }

  @Override
  public void onLost(Consumer<? super LossReason> callback) {
    isValid();
    hold.signal().add(Objects.requireNonNull(callback, "callback"));
  }

  @Override
  public CompletionStage<LossReason> lost() {
    isValid();
    return hold.signal().stage();
  }

  @Override
  public void close() {
    ensureValidOrReleased();
    release();
  }

  private void ensureValidOrReleased() {
    if (!isValid()) {
      LeaseLostException lost = lostException();
      release();
      if (lost.reason() != LossReason.RELEASED) {
        throw lost;
      }
    }
  }

  @Override
  public String toString() {
    return "Lease"
        + resources
        + " token "
        + hold.token()
        + " "
        + hold.end().map(Enum::name).orElse("held");
  }
}
