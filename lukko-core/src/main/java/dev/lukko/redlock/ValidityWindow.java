package dev.lukko.redlock;

/**
 * The time during which a lease may be relied upon: {@code start + ttl - drift}, on two clocks.
 *
 * <p>The monotonic clock is the measure. The wall clock is a second bound, since the monotonic one
 * stands still while a machine is suspended; going back it changes nothing, going forward it can
 * only end the window early. Pure arithmetic: numbers in, numbers out.
 *
 * @param endNanos the end on the monotonic clock
 * @param wallEndMicros the end on the wall clock
 */
record ValidityWindow(long endNanos, long wallEndMicros) {

  /** The window of a ttl that was asked for at {@code startNanos} and {@code wallStartMicros}. */
  static ValidityWindow of(long startNanos, long wallStartMicros, long ttlNanos, long driftNanos) {
    long length = ttlNanos - driftNanos;
    return new ValidityWindow(startNanos + length, wallStartMicros + length / 1_000);
  }

  /**
   * What is subtracted from a ttl: {@code ttl * factor + buffer}, rounded up, saturating. The
   * product is exact to a few nanoseconds up to a ttl of 100 days.
   */
  static long driftNanos(long ttlNanos, double factor, long bufferNanos) {
    long drift = (long) Math.ceil(ttlNanos * factor) + bufferNanos; // The cast saturates.
    return drift < 0 ? Long.MAX_VALUE : drift;
  }

  /** This window, ending no later than another. */
  ValidityWindow upTo(ValidityWindow limit) {
    return new ValidityWindow(
        limit.endNanos + Math.min(0, endNanos - limit.endNanos),
        Math.min(wallEndMicros, limit.wallEndMicros));
  }

  /** What is left, in nanoseconds, by the clock that is further; negative after the end. */
  long remainingNanos(long nowNanos, long wallNowMicros) {
    long byMonotonic = endNanos - nowNanos;
    long wallLeft = wallEndMicros - wallNowMicros;
    long farthest = Long.MAX_VALUE / 1_000;
    long byWall = Math.max(-farthest, Math.min(farthest, wallLeft)) * 1_000;
    return Math.min(byMonotonic, byWall);
  }

  boolean isOpen(long nowNanos, long wallNowMicros) {
    return remainingNanos(nowNanos, wallNowMicros) > 0;
  }
}
