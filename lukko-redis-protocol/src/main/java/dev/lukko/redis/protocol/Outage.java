package dev.lukko.redis.protocol;

import static java.lang.System.Logger.Level.INFO;
import static java.lang.System.Logger.Level.WARNING;

/**
 * The time in which a link has no connection: it is told once when it begins and once when it is
 * over, and the attempts in between become rarer, down to one a second.
 *
 * <p>Not thread-safe; guarded by the lock of its {@link RedisLink}.
 */
final class Outage {
  private static final long MIN_BACKOFF_MILLIS = 10;
  private static final long MAX_BACKOFF_MILLIS = 1_000;

  private final String name;
  private long backoffMillis = MIN_BACKOFF_MILLIS;
  private boolean logged;

  /** None yet. */
  Outage(String name) {
    this.name = name;
  }

  /** There is no connection; gives the milliseconds until the next attempt. */
  long goesOn(String why) {
    if (!logged) {
      logged = true;
      RedisLink.LOG.log(WARNING, "{0} cannot be reached, trying again: {1}", name, why);
    }
    long delayMillis = backoffMillis;
    backoffMillis = Math.min(MAX_BACKOFF_MILLIS, backoffMillis * 2);
    return delayMillis;
  }

  /** There is a connection. */
  void over() {
    backoffMillis = MIN_BACKOFF_MILLIS;
    if (logged) {
      logged = false;
      RedisLink.LOG.log(INFO, "{0} is connected", name);
    }
  }
}
