package dev.lukko.redis.protocol;

import dev.lukko.time.Scheduler;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;

/**
 * Notices that nothing has come from a server for a while though it was asked.
 *
 * <p>One timer at a time, set by the first request after a rest, and set anew as long as replies
 * are outstanding; so a busy connection pays for a few timers a second, whatever it carries.
 * Thread-safe.
 */
final class Silence {
  private final Scheduler timers;
  private final LongSupplier boundNanos;
  private final LongSupplier quietNanos;
  private final Runnable action;
  private final AtomicBoolean watching = new AtomicBoolean();

  /**
   * A silence that begins with the first request.
   *
   * @param boundNanos how long it may last
   * @param quietNanos how long it lasts already; zero or less if no reply is outstanding
   * @param action called when it has lasted too long, and again after each further such time
   */
  Silence(Scheduler timers, LongSupplier boundNanos, LongSupplier quietNanos, Runnable action) {
    this.timers = timers;
    this.boundNanos = boundNanos;
    this.quietNanos = quietNanos;
    this.action = action;
  }

  /** A request was sent. */
  void asked() {
    if (!watching.get() && watching.compareAndSet(false, true)) {
      watch(boundNanos.getAsLong());
    }
  }

  /** Whether it has lasted too long by now. */
  boolean isTooLong() {
    return quietNanos.getAsLong() >= boundNanos.getAsLong();
  }

  private void watch(long nanos) {
    timers.schedule(this::look, Math.max(nanos, TimeUnit.MILLISECONDS.toNanos(1)));
  }

  private void look() {
    long bound = boundNanos.getAsLong();
    long quiet = quietNanos.getAsLong();
    if (quiet <= 0) {
      watching.set(false);
      if (quietNanos.getAsLong() > 0) {
        asked(); // a request came in between, and relied on this watch
      }
    } else if (quiet < bound) {
      watch(bound - quiet);
    } else {
      action.run();
      watch(bound);
    }
  }
}
