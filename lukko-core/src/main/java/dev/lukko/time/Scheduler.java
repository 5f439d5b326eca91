package dev.lukko.time;

import java.time.Duration;

/**
 * Timers and callback threads, as one thing that can be replaced by virtual time in tests.
 *
 * <p>Timer tasks are short and never block: one timer thread serves all leases of a client, and no
 * hung server and no slow callback may delay a loss signal. Whatever belongs to the user
 * (callbacks, listeners, bodies) goes through {@link #execute}. Implementations are thread-safe.
 */
public interface Scheduler extends AutoCloseable {

  /**
   * Runs a short, non-blocking task once, after a delay.
   *
   * @param task what to run; what it throws is logged and changes nothing else
   * @param delayNanos the delay in nanoseconds; zero or less means as soon as possible
   * @return the handle by which the task can be cancelled; after {@link #close()} an inert one, and
   *     the task never runs
   */
  Timer schedule(Runnable task, long delayNanos);

  /**
   * Runs a task that may block on a thread that is not the timer's. After {@link #close()} the task
   * is dropped.
   */
  void execute(Runnable task);

  /**
   * Cancels all timers, lets running callbacks finish, and ends the threads it made. Idempotent.
   */
  @Override
  void close();

  /**
   * One daemon timer thread, started on first use, and daemon callback threads that end after ten
   * idle seconds.
   *
   * @param name the prefix of the threads' names
   */
  static Scheduler create(String name) {
    return new ThreadScheduler(name);
  }

  /** A duration in nanoseconds, saturating at {@code Long.MAX_VALUE} and {@code Long.MIN_VALUE}. */
  static long toNanosSaturated(Duration duration) {
    try {
      return duration.toNanos();
    } catch (ArithmeticException tooLong) {
      return duration.isNegative() ? Long.MIN_VALUE : Long.MAX_VALUE;
    }
  }

  /** A scheduled task that can be taken back. */
  interface Timer {
    /**
     * Prevents the task from running if it has not begun; removes it from the scheduler at once.
     */
    void cancel();
  }
}
