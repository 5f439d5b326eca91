package dev.lukko.postgres;

import dev.lukko.time.Ticker;
import java.sql.SQLException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/**
 * Waits that an interrupt does not cut short, since they have an end of their own: what they wait
 * for is under way and must be accounted for. The interrupt is kept for the caller.
 */
final class BoundedWait {
  private BoundedWait() {}

  @FunctionalInterface
  private interface Wait<T extends @Nullable Object> {
    T atMost(long nanos) throws InterruptedException, ExecutionException, TimeoutException;
  }

  /**
   * The result of a call.
   *
   * @throws SQLException what the call has thrown, or an unexpected failure with it as its cause
   * @throws TimeoutException if there is no result in time
   */
  static <T extends @Nullable Object> T result(CompletableFuture<T> call, long nanos)
      throws SQLException, TimeoutException {
    try {
      return throughInterrupts(left -> call.get(left, TimeUnit.NANOSECONDS), nanos);
    } catch (ExecutionException failed) {
      Throwable cause = failed.getCause();
      if (cause instanceof SQLException sql) {
        throw sql;
      }
      if (cause instanceof RuntimeException unchecked) {
        throw unchecked;
      }
      throw new SQLException("a call to the database failed", "58000", cause);
    }
  }

  /** Whether the lock is ours in time. */
  static boolean lock(Lock lock, long nanos) {
    try {
      return throughInterrupts(
          left -> lock.tryLock(Math.max(0, left), TimeUnit.NANOSECONDS), nanos);
    } catch (ExecutionException | TimeoutException never) {
      throw new IllegalStateException(never);
    }
  }

  private static <T extends @Nullable Object> T throughInterrupts(Wait<T> wait, long nanos)
      throws ExecutionException, TimeoutException {
    boolean interrupted = false;
    long end = Ticker.system().nanoTime() + nanos;
    try {
      while (true) {
        try {
          return wait.atMost(end - Ticker.system().nanoTime());
        } catch (InterruptedException later) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
