package dev.lukko.time;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;

/**
 * Timers and callback threads, as one thing that can be replaced by virtual time in tests.
 *
 * <p>Timer tasks are short and never block: one timer thread serves all leases of a client, and no
 * hung server and no slow callback may delay a loss signal. Whatever belongs to the user
 * (callbacks, listeners, bodies, dependent stages) goes through {@link #callbacks}. Implementations
 * are thread-safe.
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
   * Runs a task that may block on a thread that is not the timer's. No task is dropped: one that
   * gets no thread now is run when there is one, and one that is given after {@link #close()} is
   * run as well.
   *
   * @param task what to run; what it throws is logged and changes nothing else
   */
  void execute(Runnable task);

  /**
   * Where code of the user's runs, which may block for as long as it likes. By default this is
   * {@link #execute}.
   */
  default Executor callbacks() {
    return this::execute;
  }

  /**
   * Waits for the end of a future in a thread of the caller's; an interrupt does not shorten the
   * wait, and its flag is kept. Virtual time does not wait: it runs what it may run.
   *
   * @return whether the future has ended
   */
  default boolean await(Future<?> future, long timeoutNanos) {
    return Uninterrupted.await(future, timeoutNanos);
  }

  /**
   * Cancels all timers, lets the tasks that were given finish, and ends the threads it made.
   * Idempotent.
   */
  @Override
  void close();

  /**
   * One daemon timer thread, threads for tasks as they are needed, and at most 64 platform threads
   * for callbacks; more callbacks at a time run in virtual threads where the JDK has them, and wait
   * for a thread where it has not. Threads begin on first use; all but one end after ten idle
   * seconds. They inherit no thread-locals; their context class loader is that of the thread that
   * called this method.
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
