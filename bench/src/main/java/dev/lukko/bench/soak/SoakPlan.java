package dev.lukko.bench.soak;

import java.time.Duration;
import java.util.Set;

/**
 * What a run is to do.
 *
 * @param duration how long faults are made
 * @param seed decides which faults strike, when, and for how long
 * @param clients how many client processes there are
 * @param mode what guards the set
 * @param faults the kinds of faults
 * @param mayForget how many of the five servers may be without memory at the same time
 */
record SoakPlan(
    Duration duration,
    long seed,
    int clients,
    SoakMode mode,
    Set<FaultKind> faults,
    int mayForget) {
  static final int NODES = 5;
  static final int QUORUM = 3;

  /** The lock of all additions. */
  static final String LOCK = "soak";

  static final Duration TTL = Duration.ofSeconds(1);

  /** Long enough for two cores with a dozen processes. */
  static final Duration NODE_TIMEOUT = Duration.ofMillis(200);

  /** Also how long a server that forgot must not vote: short, so that many can forget in turn. */
  static final Duration MAX_TTL = Duration.ofSeconds(2);

  /** Quarantine, a lease that nobody releases, and time for reconnecting. */
  static final Duration LIVENESS_BOUND = Duration.ofSeconds(15);

  SoakPlan {
    faults = Set.copyOf(faults);
  }

  /**
   * Whether one valid lease at a time is promised: not while clocks jump, and not when a majority
   * forgets.
   */
  boolean promisesMutualExclusion() {
    return mode != SoakMode.WITHOUT_LOCK && mayForget < QUORUM;
  }
}
