package dev.lukko.cli.doctor;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.Locale;

/**
 * Round trips to a node, and its clock against ours.
 *
 * @param p50Nanos half of the round trips took no longer
 * @param p99Nanos 99 of 100 took no longer
 * @param count how many there were
 * @param offsetMicros by how much the node's clock is ahead of ours
 * @param errorMicros by how much that may be wrong
 * @param movedMicros by how much it has surely moved against our steady clock meanwhile
 */
record Timing(
    long p50Nanos,
    long p99Nanos,
    int count,
    long offsetMicros,
    long errorMicros,
    long movedMicros) {
  private static final int TRIPS = 100;
  private static final long BUDGET_NANOS = 1_000_000_000;

  /** Measures, for a third of the time that is left, a second at most. */
  static Timing of(Questions questions) {
    long[] trips = new long[TRIPS];
    int count = 0;
    long begin = System.nanoTime();
    long budgetNanos = Math.min(BUDGET_NANOS, questions.left().toNanos() / 3);
    ClockSample best = ClockSample.of(questions);
    ClockSample first = best;
    ClockSample last = best;
    while (count < TRIPS && System.nanoTime() - begin < budgetNanos) {
      last = ClockSample.of(questions); // a question that needs no right beyond a lock's
      best = last.tripNanos < best.tripNanos ? last : best;
      trips[count++] = last.tripNanos;
    }
    long[] sorted = Arrays.copyOf(trips, count);
    Arrays.sort(sorted);
    return new Timing(
        percentile(sorted, 50),
        percentile(sorted, 99),
        count,
        best.serverMicros - best.wallMicros,
        best.tripNanos / 2_000 + 1,
        last.surelyMovedSince(first));
  }

  static long percentile(long[] sorted, int percent) {
    return sorted.length == 0 ? 0 : sorted[Math.max(0, (sorted.length * percent + 99) / 100 - 1)];
  }

  static String millis(long nanos) {
    return String.format(Locale.ROOT, "%.1f ms", nanos / 1e6);
  }

  /** One look at the server's clock; ours as in the middle of the round trip. */
  private record ClockSample(
      long serverMicros, long wallMicros, long steadyMicros, long tripNanos) {

    static ClockSample of(Questions questions) {
      long sent = System.nanoTime();
      long server = questions.timeMicros();
      Instant wall = Instant.now();
      long came = System.nanoTime(); // Last, so that whatever kept us counts as uncertainty.
      long trip = came - sent;
      return new ClockSample(
          server,
          ChronoUnit.MICROS.between(Instant.EPOCH, wall) - trip / 2_000,
          sent / 1_000 + trip / 2_000,
          trip);
    }

    /** Less by what the two round trips leave open: a busy machine is no clock that jumps. */
    long surelyMovedSince(ClockSample earlier) {
      long moved = (serverMicros - earlier.serverMicros) - (steadyMicros - earlier.steadyMicros);
      long open = (tripNanos + earlier.tripNanos) / 2_000 + 1;
      return Long.signum(moved) * Math.max(0, Math.abs(moved) - open);
    }
  }
}
