package dev.lukko.time;

import java.time.Instant;

/**
 * The two clocks that a lock needs: one that never goes back, and one that goes on while the
 * machine is suspended.
 *
 * <p>Validity is judged by {@link #nanoTime()}. The wall clock can only end a lease early (it goes
 * on while a suspended machine's monotonic clock stands still) and never prolongs one.
 * Implementations are thread-safe.
 */
public interface Ticker {

  /** Monotonic time in nanoseconds from an arbitrary origin; only differences have a meaning. */
  long nanoTime();

  /** Wall clock time in microseconds since 1970-01-01T00:00:00Z; it may jump in both directions. */
  long wallMicros();

  /** The clocks of this machine. */
  static Ticker system() {
    return SystemTicker.INSTANCE;
  }

  /** This wall clock as an instant, to the microsecond. */
  default Instant wallInstant() {
    long micros = wallMicros();
    return Instant.ofEpochSecond(
        Math.floorDiv(micros, 1_000_000L), Math.floorMod(micros, 1_000_000L) * 1_000L);
  }
}
