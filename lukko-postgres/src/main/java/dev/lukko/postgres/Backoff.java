package dev.lukko.postgres;

import java.time.Duration;

/**
 * The delay after a failure: it doubles each time, up to a limit.
 *
 * @param first the delay after the first failure
 * @param limit the longest delay
 */
record Backoff(Duration first, Duration limit) {

  /** The delay after so many failures, at least one. */
  Duration after(int failures) {
    Duration delay = first;
    for (int i = 1; i < failures && delay.compareTo(limit) < 0 && !delay.isZero(); i++) {
      delay = delay.multipliedBy(2);
    }
    return delay.compareTo(limit) < 0 ? delay : limit;
  }
}
