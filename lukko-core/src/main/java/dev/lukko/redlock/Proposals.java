package dev.lukko.redlock;

import dev.lukko.LockException;
import dev.lukko.spi.GrantRequest;
import dev.lukko.time.Ticker;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The numbers that a client proposes for its grants: its wall clock in microseconds, or one above
 * the highest counter that it has seen for the resource, whichever is larger.
 *
 * <p>The wall clock makes it likely that all nodes answer the same number, and keeps tokens rising
 * when all nodes have lost their counters. No promise rests on it, and a clock beyond the year 2112
 * is not used: it would take the counters to the end of their numbers.
 */
final class Proposals {
  private static final int REMEMBERED = 4_096;

  private final Ticker ticker;
  private final Map<String, Long> highestSeen =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Long> eldest) {
          return size() > REMEMBERED;
        }
      };

  Proposals(Ticker ticker) {
    this.ticker = ticker;
  }

  /**
   * The number for the next grant.
   *
   * @param floor what it must lie above in any case
   */
  synchronized long next(List<String> resources, long floor) {
    long wallMicros = ticker.wallMicros();
    long proposal = Math.max(floor + 1, wallMicros < Plausible.FAR ? wallMicros : 1);
    for (String resource : resources) {
      Long seen = highestSeen.get(resource);
      if (seen != null) {
        proposal = Math.max(proposal, seen + 1);
      }
    }
    return checked(resources, proposal);
  }

  synchronized void seen(List<String> resources, long counter) {
    for (String resource : resources) {
      highestSeen.merge(resource, counter, Math::max);
    }
  }

  /** The number, if there is still room for it. */
  static long checked(List<String> resources, long number) {
    if (number > GrantRequest.MAX_COUNTER) {
      throw new LockException(
          "the counters of "
              + resources
              + " are used up: the next number would be "
              + number
              + ", the highest is "
              + GrantRequest.MAX_COUNTER);
    }
    return number;
  }
}
