package dev.lukko.redlock;

import dev.lukko.time.Scheduler;
import java.time.Duration;
import java.util.Optional;

/**
 * When one call asks again: the beats of its retry delay, its next round, and the end of its
 * budget, which is a time or a number of retries.
 *
 * <p>Not thread-safe: the lock of its {@link AcquireLoop} guards it, but for what is final.
 */
final class RetrySchedule {
  private static final long BY_RETRY_COUNT = -1;

  private final Context context;
  private final long startNanos;
  private final long budgetNanos;
  private int beats;
  private int splits;
  private long nextBeatNanos;
  private long nextRoundNanos;

  /**
   * The schedule of a call that begins now.
   *
   * @param maxWait the budget; empty if the retries are counted instead
   */
  RetrySchedule(Context context, Optional<Duration> maxWait) {
    this.context = context;
    this.startNanos = context.ticker.nanoTime();
    this.nextBeatNanos = startNanos;
    this.budgetNanos = maxWait.map(Scheduler::toNanosSaturated).orElse(BY_RETRY_COUNT);
  }

  long startNanos() {
    return startNanos;
  }

  /** Whether the budget is a time. */
  boolean isTimed() {
    return budgetNanos != BY_RETRY_COUNT;
  }

  /** Whether there may be a second round. */
  boolean mayWait() {
    return isTimed() ? budgetNanos > 0 : context.settings.retryCount() != 0;
  }

  /** What is left of a budget that is a time. */
  long budgetLeftNanos() {
    return budgetNanos - (context.ticker.nanoTime() - startNanos);
  }

  /** Whether the budget is used up: a round that begins now is the last one. */
  boolean isSpent() {
    if (isTimed()) {
      return budgetLeftNanos() <= 0;
    }
    int retries = context.settings.retryCount();
    return retries != Settings.ENDLESS && beats >= retries;
  }

  /** The call waits behind others before its first round. */
  void beginInLine() {
    nextBeatNanos = startNanos + beatNanos();
    nextRoundNanos = nextBeatNanos;
  }

  /**
   * Plans the round after one that was lost.
   *
   * @param mostNanos the longest wait, so that a place in a fair line is kept
   */
  void onLost(Loss loss, long mostNanos) {
    long now = context.ticker.nanoTime();
    splits = loss.isSplit(context.quorum()) ? splits + 1 : 0;
    if (now - nextBeatNanos >= 0) {
      nextBeatNanos = now + beatNanos();
    }
    long wait =
        WaitPlan.untilNextRoundNanos(
            nextBeatNanos - now, context.waitRoom.isWatched(), context.quorum(), loss.refusals());
    nextRoundNanos = now + Math.min(wait, mostNanos);
  }

  /** How long to hold back after a hint, when so many clients are to go first. */
  long holdBackNanos(int turns) {
    return WaitPlan.holdBackNanos(
        splits, context.settings.retryJitterNanos(), turns, context.jitter.getAsDouble());
  }

  /** A hint says that the lock may be free: the next round is so far away. */
  void onHint(long holdBackNanos) {
    nextRoundNanos = context.ticker.nanoTime() + holdBackNanos;
  }

  /**
   * How long until something is due: the next beat, the end of the budget, or the next round.
   *
   * @param first whether this call is the one of its client that asks
   */
  long untilDueNanos(boolean first) {
    long now = context.ticker.nanoTime();
    long delay = nextBeatNanos - now;
    if (first) {
      delay = Math.min(delay, nextRoundNanos - now);
    }
    if (isTimed()) {
      delay = Math.min(delay, budgetNanos - (now - startNanos));
    }
    return delay;
  }

  /** Counts the beat that is due, if one is, and tells whether it is time for a round. */
  boolean isRoundDue(boolean first) {
    long now = context.ticker.nanoTime();
    boolean beat = now - nextBeatNanos >= 0;
    if (beat) {
      beats++;
    }
    if (isSpent() || (first && now - nextRoundNanos >= 0)) {
      return true; // The next beat is set when this round is lost.
    }
    if (beat) {
      nextBeatNanos = now + beatNanos();
    }
    return false;
  }

  private long beatNanos() {
    return context.settings.retryDelayNanos()
        + (long) (context.jitter.getAsDouble() * context.settings.retryJitterNanos());
  }
}
