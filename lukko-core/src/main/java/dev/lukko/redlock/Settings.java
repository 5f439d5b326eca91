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
    @Nullable String fleet,
    boolean quarantine,
    boolean returnByReading,
    boolean strict,
    boolean releaseOnClose,
    boolean traceLeaks,
    String description) {

  /** The retry count that stands for "without end". */
  static final int ENDLESS = -1;

  private static final long MIN_NODE_TIMEOUT_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  /** Within this a healthy server answers on a busy machine too. */
  private static final long HEALTHY_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  private static final long MAX_NODE_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(1);

  /**
   * How long one node may take: as set, else the longest of 5 % of the ttl and, up to a quarter of
   * the ttl, 200 ms and twice what a quorum has taken of late; at least 20 ms and at most 1 s.
   *
   * @param measuredNanos what a quorum has taken of late
   */
  long nodeTimeoutNanos(long ttlNanos, long measuredNanos) {
    if (nodeTimeout != null) {
      return nodeTimeout.toNanos();
    }
    long patient = Math.max(HEALTHY_NANOS, 2 * Math.min(measuredNanos, MAX_NODE_TIMEOUT_NANOS));
    long allowed = Math.max(ttlNanos / 20, Math.min(ttlNanos / 4, patient));
    return Math.max(MIN_NODE_TIMEOUT_NANOS, Math.min(MAX_NODE_TIMEOUT_NANOS, allowed));
  }

  /** How long the client's end may wait for releases. */
  long closeTimeoutNanos() {
    return nodeTimeoutNanos(Long.MAX_VALUE, 0);
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
