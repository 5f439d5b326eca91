package dev.lukko.time;

import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A bounded wait that an interrupt does not shorten, for what must not be left half done: the
 * interrupt is kept for the caller.
 */
public final class Uninterrupted {
  private Uninterrupted() {}

  /**
   * Waits for the end of a future; the interrupt flag is kept.
   *
   * @return whether it has ended, in whatever way
   */
  public static boolean await(Future<?> future, long timeoutNanos) {
    Ticker clock = Ticker.system(); // The wait is a real one, whatever clock the leases go by.
    long startNanos = clock.nanoTime();
    boolean interrupted = false;
    try {
      while (!future.isDone()) {
        try {
          future.get(timeoutNanos - (clock.nanoTime() - startNanos), TimeUnit.NANOSECONDS);
        } catch (InterruptedException interrupt) {
          interrupted = true;
        } catch (TimeoutException late) {
          return future.isDone();
        } catch (ExecutionException | CancellationException ended) {
          return true;
        }
      }
      return true;
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
