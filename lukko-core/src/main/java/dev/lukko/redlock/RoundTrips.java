package dev.lukko.redlock;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * How long the nodes of one client have taken to answer of late, late answers included.
 *
 * <p>For each node it is the slowest answer, forgotten by an eighth with each faster one. What
 * counts is what the quickest quorum takes: a hung minority must not make a client wait for it.
 * Before a quorum has answered, a cold start is assumed: classes that are still to be loaded, and
 * scripts that the server does not know yet. Thread-safe.
 */
final class RoundTrips {
  static final long ASSUMED_NANOS = 250_000_000;

  private static final long NEVER = -1;

  private final AtomicLongArray slowest;
  private final int quorum;

  RoundTrips(int nodes) {
    long[] none = new long[nodes];
    Arrays.fill(none, NEVER);
    slowest = new AtomicLongArray(none);
    quorum = Tally.quorumOf(nodes);
  }

  /** A node has answered after this time. */
  void add(int node, long nanos) {
    long taken = Math.max(0, nanos);
    long before = slowest.get(node);
    long now = before > taken ? before - (before - taken) / 8 : taken;
    slowest.set(node, now); // Of two answers at the same time one may go uncounted.
  }

  /** How long a quorum of nodes takes at the most. */
  long ofQuorumNanos() {
    int nodes = slowest.length();
    long[] sorted = new long[nodes];
    for (int node = 0; node < nodes; node++) {
      long taken = slowest.get(node);
      sorted[node] = taken == NEVER ? ASSUMED_NANOS : taken;
    }
    Arrays.sort(sorted);
    return sorted[quorum - 1];
  }
}
