package dev.lukko.redlock;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The settings of a client, checked and copied when it was built. */
record Settings(
    double driftFactor,
    long driftBufferNanos,
    int retryCount,
    long retryDelayNanos,
    long retryJitterNanos,
    @Nullable Duration extendWhenRemaining,
    @Nullable Duration nodeTimeout,
    long minValidityNanos,
    long maxTtlNanos,
    boolean quarantine,
    boolean strict,
    boolean releaseOnClose,
    boolean traceLeaks,
    String description) {

  /** The retry count that stands for "without end". */
  static final int ENDLESS = -1;

  private static final long MIN_NODE_TIMEOUT_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final long MAX_NODE_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** How long one node may take: as set, else 5 % of the ttl, at least 20 ms and at most 1 s. */
  long nodeTimeoutNanos(long ttlNanos) {
    if (nodeTimeout != null) {
      return nodeTimeout.toNanos();
    }
    return Math.max(MIN_NODE_TIMEOUT_NANOS, Math.min(MAX_NODE_TIMEOUT_NANOS, ttlNanos / 20));
  }

  /** How long the client's end may wait for releases. */
  long closeTimeoutNanos() {
    return nodeTimeoutNanos(Long.MAX_VALUE);
  }

  /**
   * How long a node that may have forgotten must not vote, in milliseconds; zero means not at all.
   */
  long quarantineMillis() {
    return quarantine ? TimeUnit.NANOSECONDS.toMillis(maxTtlNanos) : 0;
  }

  /** What is subtracted from a ttl for the drift of clocks; rounded up. */
  long driftNanos(long ttlNanos) {
    return ValidityWindow.driftNanos(ttlNanos, driftFactor, driftBufferNanos);
  }

  /** The remaining time at which a lease of this ttl is extended in the background. */
  long extendAtRemainingNanos(long ttlNanos) {
    return extendWhenRemaining == null
        ? (ttlNanos - driftNanos(ttlNanos)) / 3 * 2
        : extendWhenRemaining.toNanos();
  }
}
