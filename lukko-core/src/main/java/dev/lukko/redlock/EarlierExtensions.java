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
 * earlier than the newer extension said. So a node counts only for the shortest ttl that it may
 * still apply. Not thread-safe.
 */
final class EarlierExtensions {
  /** How many are known one by one; older ones are never taken for answered any more. */
  private static final int KNOWN = 4;

  private final List<ExtendRound> rounds = new ArrayList<>(2);
  private long @Nullable [] shortestNanos;

  void add(ExtendRound round) {
    rounds.removeIf(ExtendRound::isAnswered);
    if (rounds.size() == KNOWN) {
      forget(rounds.remove(0));
    }
    rounds.add(round);
  }

  private void forget(ExtendRound round) {
    int nodes = round.nodes().size();
    if (shortestNanos == null) {
      shortestNanos = new long[nodes];
      Arrays.fill(shortestNanos, Long.MAX_VALUE);
    }
    for (int node = 0; node < nodes; node++) {
      if (round.isOpenAt(node)) {
        shortestNanos[node] = Math.min(shortestNanos[node], round.ttlNanos());
      }
    }
  }

  /** For how long a quorum keeps the entry after an extension that it has agreed to. */
  long keptNanos(ExtendRound won) {
    int quorum = Tally.quorumOf(won.nodes().size());
    long[] kept = new long[won.nodes().size()];
    for (int node = 0; node < kept.length; node++) {
      kept[node] = won.isExtendedAt(node) ? keptNanos(node, won) : 0;
    }
    Arrays.sort(kept);
    return kept[kept.length - quorum];
  }

  private long keptNanos(int node, ExtendRound won) {
    long kept = won.ttlNanos();
    if (shortestNanos != null) {
      kept = Math.min(kept, shortestNanos[node]);
    }
    for (ExtendRound round : rounds) {
      if (round != won && round.isOpenAt(node)) {
        kept = Math.min(kept, round.ttlNanos());
      }
    }
    return kept;
  }

  /** Whether none can shorten an extension by this ttl. */
  boolean areHarmlessTo(long ttlNanos) {
    return shortestNanos == null && rounds.stream().allMatch(round -> round.ttlNanos() >= ttlNanos);
  }
}
