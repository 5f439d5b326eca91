package dev.lukko.redis.protocol;

import static java.lang.System.Logger.Level.INFO;
import static java.lang.System.Logger.Level.WARNING;

import dev.lukko.time.Scheduler;

/**
 * The time in which a link has no connection: it is told once when it begins and once when it is
 * over, and the attempts in between become rarer, down to one a second.
 *
 * <p>Not thread-safe; guarded by the lock of its {@link RedisLink}.
 */
final class Outage {
  private static final long MIN_BACKOFF_MILLIS = 10;
  private static final long MAX_BACKOFF_MILLIS = 1_000;
  private static final int MANY_ATTEMPTS = 30;

  private final String name;
  private final Scheduler threads;
  private long backoffMillis = MIN_BACKOFF_MILLIS;
  private boolean logged;
  private int attempts;

  /**
   * None yet.
   *
   * @param threads where it is logged: a handler may be slow
   */
  Outage(String name, Scheduler threads) {
    this.name = name;
    this.threads = threads;
  }

  /** There is no connection; gives the milliseconds until the next attempt. */
  long goesOn(String why) {
    if (!logged) {
      logged = true;
      threads.execute(
          () -> RedisLink.LOG.log(WARNING, "{0} cannot be reached, trying again: {1}", name, why));
    }
    attempts++;
    long delayMillis = backoffMillis;
    backoffMillis = Math.min(MAX_BACKOFF_MILLIS, backoffMillis * 2);
    return delayMillis;
  }

  /** Whether it lasts for so many attempts, about half a minute, that the server may be gone. */
  boolean isLong() {
    return attempts >= MANY_ATTEMPTS;
  }

  /** There is a connection. */
  void over() {
    attempts = 0;
    backoffMillis = MIN_BACKOFF_MILLIS;
    if (logged) {
      logged = false;
      threads.execute(() -> RedisLink.LOG.log(INFO, "{0} is connected", name));
    }
  }
}
