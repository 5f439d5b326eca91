package dev.lukko.scorecard;

import java.util.concurrent.TimeUnit;

/** Seconds since a moment. */
record Stopwatch(long startNanos) {
  static Stopwatch start() {
    return new Stopwatch(System.nanoTime());
  }

  double seconds() {
    return secondsAt(System.nanoTime());
  }

  double secondsAt(long nanos) {
    return (nanos - startNanos) / (double) TimeUnit.SECONDS.toNanos(1);
  }
}
