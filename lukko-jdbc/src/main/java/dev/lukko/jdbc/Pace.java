package dev.lukko.jdbc;

/**
 * How long the server took for its last answer: what decides whether a caller may wait for the next
 * one itself.
 *
 * <p>Whoever waits on a connection until his patience ends loses it. So a server that is slow under
 * load, or hangs, must not be met by callers one after the other; the workers have the longer
 * request timeout, and bring the pace back when it has recovered.
 */
final class Pace {
  /** How many times the last answer must fit into the patience. */
  private static final long SPARE = 10;

  private volatile long lastNanos = Long.MAX_VALUE;

  /** The server has answered a request of an owner. */
  void answered(long nanos) {
    lastNanos = nanos;
  }

  /** A connection broke, or was given up. */
  void faulted() {
    lastNanos = Long.MAX_VALUE;
  }

  /** Whether an answer within this time can be counted on. */
  boolean fits(long patienceNanos) {
    return lastNanos <= patienceNanos / SPARE;
  }
}
