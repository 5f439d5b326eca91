package dev.lukko.redlock;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The extensions of one hold that some node has not answered, and may apply at any later time.
 *
 * <p>A request that was overtaken, over a new connection for example, sets the entry to its own ttl
 * when it arrives in the end. If that is shorter than what was asked for since, the entry ends
 * earlier than the newer extension said. So a node counts only for the shortest ttl that it had not
 * answered when the newer one was sent: an answer that came after that does not tell which of the
 * two was applied first. Not thread-safe.
 */
final class EarlierExtensions {
  /** How many are known one by one; older ones are never taken for answered any more. */
  private static final int KNOWN = 4;

  private final List<ExtendRound> rounds = new ArrayList<>(2);
  private long @Nullable [] forgottenNanos;
  private long @Nullable [] boundsNanos;

  /** The next extension is about to be sent. */
  void add(ExtendRound round) {
    rounds.removeIf(ExtendRound::isAnswered);
    boundsNanos = bounds(round.nodes().size());
    if (rounds.size() == KNOWN) {
      forget(rounds.remove(0));
    }
    rounds.add(round);
  }

  /** What each node may still cut an entry to; null if none may. */
  private long @Nullable [] bounds(int nodes) {
    if (rounds.isEmpty() && forgottenNanos == null) {
      return null;
    }
    long[] bounds = forgottenNanos == null ? unbounded(nodes) : forgottenNanos.clone();
    rounds.forEach(round -> bound(bounds, round));
    return bounds;
  }

  private void forget(ExtendRound round) {
    if (forgottenNanos == null) {
      forgottenNanos = unbounded(round.nodes().size());
    }
    bound(forgottenNanos, round);
  }

  private static long[] unbounded(int nodes) {
    long[] bounds = new long[nodes];
    Arrays.fill(bounds, Long.MAX_VALUE);
    return bounds;
  }

  private static void bound(long[] bounds, ExtendRound round) {
    for (int node = 0; node < bounds.length; node++) {
      if (round.isOpenAt(node)) {
        bounds[node] = Math.min(bounds[node], round.ttlNanos());
      }
    }
  }

  /**
   * For how long at most a quorum keeps the entry after the newest extension, which it has agreed
   * to; {@code Long.MAX_VALUE} if no earlier one can cut it.
   */
  long boundNanos(ExtendRound won) {
    if (boundsNanos == null) {
      return Long.MAX_VALUE;
    }
    long[] kept = boundsNanos.clone();
    for (int node = 0; node < kept.length; node++) {
      if (!won.isExtendedAt(node)) {
        kept[node] = 0;
      }
    }
    Arrays.sort(kept);
    return kept[kept.length - Tally.quorumOf(kept.length)];
  }
}
