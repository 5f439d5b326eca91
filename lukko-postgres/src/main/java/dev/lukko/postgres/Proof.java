package dev.lukko.postgres;

import dev.lukko.time.Ticker;

/**
 * An instant at which the server session was certainly alive: just before a statement was sent that
 * it answered.
 *
 * @param nanos on the monotonic clock
 * @param wallMicros on the wall clock, which goes on while a machine is suspended
 */
record Proof(long nanos, long wallMicros) {

  static Proof now(Ticker ticker) {
    return new Proof(ticker.nanoTime(), ticker.wallMicros());
  }

  /** What is left of a time that began here: by the clock that has run further. */
  long remainingNanos(long durationNanos, Ticker ticker) {
    long monotonic = durationNanos - (ticker.nanoTime() - nanos);
    long wallPassedMicros = ticker.wallMicros() - wallMicros;
    // Compared in microseconds: a wall clock that jumped by centuries must not overflow.
    return wallPassedMicros > durationNanos / 1_000
        ? Math.min(monotonic, 0)
        : Math.min(monotonic, durationNanos - Math.max(0, wallPassedMicros) * 1_000);
  }
}
