package dev.lukko;

import java.time.Duration;

/**
 * A quorum granted the lock, but it took so long that nothing, or not enough, of the ttl was left.
 * Everything was released again. A longer ttl, or faster nodes, are the remedy.
 */
public final class ValidityExhaustedException extends LockNotAcquiredException {
  private static final long serialVersionUID = 1L;

  private final Duration elapsed;
  private final Duration drift;
  private final Duration ttl;

  /**
   * An error for a grant that came too late.
   *
   * @param attempt what was tried
   * @param elapsed how long the winning round took
   * @param drift what is subtracted from the ttl for the drift of clocks
   * @param ttl the ttl that was asked for
   * @param minValidity the validity that had to be left
   */
  public ValidityExhaustedException(
      Attempt attempt, Duration elapsed, Duration drift, Duration ttl, Duration minValidity) {
    super(
        "validity exhausted for lock "
            + attempt.resources()
            + ": elapsed "
            + millis(elapsed)
            + " ms, drift "
            + millis(drift)
            + " ms, ttl "
            + millis(ttl)
            + " ms"
            + (minValidity.isZero() ? "" : ", minValidity " + millis(minValidity) + " ms"),
        attempt);
    this.elapsed = elapsed;
    this.drift = drift;
    this.ttl = ttl;
  }

  /** How long the winning round took. */
  public Duration elapsed() {
    return elapsed;
  }

  /** What is subtracted from the ttl for the drift of clocks. */
  public Duration drift() {
    return drift;
  }

  /** The ttl that was asked for. */
  public Duration ttl() {
    return ttl;
  }

  private static String millis(Duration duration) {
    return java.math.BigDecimal.valueOf(duration.toNanos() / 1_000, 3)
        .stripTrailingZeros()
        .toPlainString();
  }
}
