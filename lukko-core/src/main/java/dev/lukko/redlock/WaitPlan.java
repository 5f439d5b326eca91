package dev.lukko.redlock;

import dev.lukko.spi.GrantReply;
import dev.lukko.time.Scheduler;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * When a waiter asks again, as numbers. Pure.
 *
 * <p>The retry delay with its jitter is the rhythm of a call. A waiter that the nodes will wake may
 * let beats pass, up to a second, if a quorum has told it that the lock is held; but it never waits
 * longer than the remaining time that a refusing node reported, so that the lock of a crashed
 * holder is taken at its end.
 */
final class WaitPlan {
  private static final long WATCHED_POLL_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long TURN_NANOS = TimeUnit.MICROSECONDS.toNanos(250);
  private static final long AFTER_EXPIRY_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  private WaitPlan() {}

  /**
   * How long to wait before the next round.
   *
   * @param beatNanos the retry delay with its jitter
   * @param watched whether a quorum of nodes gives hints
   * @param quorum how many nodes are a quorum
   * @param refusals what the refusing nodes of the last round said
   */
  static long untilNextRoundNanos(
      long beatNanos, boolean watched, int quorum, List<GrantReply.Refused> refusals) {
    long wait =
        watched && refusals.size() >= quorum ? Math.max(beatNanos, WATCHED_POLL_NANOS) : beatNanos;
    for (GrantReply.Refused refused : refusals) {
      if (refused.holder().remaining().isPresent()) {
        Duration left = refused.holder().remaining().get();
        long leftNanos = Math.max(0, Scheduler.toNanosSaturated(left));
        wait = Math.min(wait, Math.min(leftNanos, wait) + AFTER_EXPIRY_NANOS);
      }
    }
    return wait;
  }

  /**
   * How long to hold back after a wake-up. Those who split the votes of a quorum shall not meet
   * again: a random part of a bound that doubles with each split in a row. Otherwise a step for
   * each client that is to go first.
   *
   * @param splits how many rounds in a row found the votes split
   * @param jitterNanos the retry jitter, the bound of all bounds
   * @param turns how many clients are to go first
   * @param random a random number from 0 (inclusive) to 1 (exclusive)
   */
  static long holdBackNanos(int splits, long jitterNanos, int turns, double random) {
    if (splits > 0) {
      long bound = TimeUnit.MILLISECONDS.toNanos(1L << Math.min(splits, 10));
      return (long) (random * Math.min(bound, jitterNanos));
    }
    return Math.min(turns * TURN_NANOS, jitterNanos);
  }
}
