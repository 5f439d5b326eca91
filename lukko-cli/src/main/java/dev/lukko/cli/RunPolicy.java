package dev.lukko.cli;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What {@code lukko run} does when things do not go as they mostly do.
 *
 * @param skipIfBusy whether a lock that another holds is as good as one's own run
 * @param onLost what becomes of COMMAND without the lock
 * @param maxHold how long COMMAND may hold the lock; null for as long as it likes
 * @param killAfter how long COMMAND has from TERM to KILL
 */
record RunPolicy(
    boolean skipIfBusy, OnLost onLost, @Nullable Duration maxHold, Duration killAfter) {

  /** What becomes of COMMAND when the lock is lost. */
  enum OnLost {
    /** It is ended. */
    KILL,
    /** It goes on, and the loss is said. */
    WARN
  }
}
