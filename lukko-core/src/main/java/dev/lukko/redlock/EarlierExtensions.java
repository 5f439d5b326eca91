package dev.lukko.redlock;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The extensions of one hold that some node has not answered, and may apply at any later time.
 *
 * <p>A request that was overtaken, over a new connection for example, sets the entry to its own ttl
 * when it arrives in the end. If that is shorter than what was asked for since, the entry ends
 * earlier than the newer extension said. So a node counts only for the shortest ttl that it had not
 * answered when the newer one was sent: an answer that came after that does not tell which of the
 * two was applied first. What counts is the server: its vote may have come to another address
 * since, and what was sent to the earlier one still arrives. Not thread-safe.
 */
final class EarlierExtensions {
  /** How many are known one by one; older ones are never taken for answered any more. */
  private static final int KNOWN = 4;

  private final List<ExtendRound> rounds = new ArrayList<>(2);
  private final Map<Place, Long> forgottenNanos = new HashMap<>();
  private long @Nullable [] boundsNanos;

  /**
   * Where a request is on its way to.
   *
   * @param node the place of its node among the client's
   * @param server the id of the server that it was meant for; empty if it has none
   */
  private record Place(int node, String server) {
    static Place of(ExtendRound round, int node) {
      return new Place(node, round.serverAt(node));
    }

    /** The address of another node may have led to this server by now. */
    boolean isThatOf(Place other) {
      return node == other.node || (!server.isEmpty() && server.equals(other.server));
    }
  }

  /** The next extension is about to be sent. */
  void add(ExtendRound round) {
    rounds.removeIf(ExtendRound::isAnswered);
    boundsNanos = bounds(round);
    if (rounds.size() == KNOWN) {
      addOpen(forgottenNanos, rounds.remove(0));
    }
    rounds.add(round);
  }

  /** What each node may still cut an entry to; null if none may. */
  private long @Nullable [] bounds(ExtendRound next) {
    Map<Place, Long> open = new HashMap<>(forgottenNanos);
    rounds.forEach(round -> addOpen(open, round));
    if (open.isEmpty()) {
      return null;
    }
    long[] bounds = new long[next.nodes().size()];
    Arrays.fill(bounds, Long.MAX_VALUE);
    for (int node = 0; node < bounds.length; node++) {
      for (Map.Entry<Place, Long> request : open.entrySet()) {
        if (request.getKey().isThatOf(Place.of(next, node))) {
          bounds[node] = Math.min(bounds[node], request.getValue());
        }
      }
    }
    return bounds;
  }

  private static void addOpen(Map<Place, Long> open, ExtendRound round) {
    for (int node = 0; node < round.nodes().size(); node++) {
      if (round.isOpenAt(node)) {
        open.merge(Place.of(round, node), round.ttlNanos(), Math::min);
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
    return won.electorate().keptByMajority(kept);
  }
}
