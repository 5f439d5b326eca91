package dev.lukko.postgres;

import dev.lukko.time.Scheduler;
import dev.lukko.time.VirtualThreads;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Keeps virtual threads off the socket. An interrupt that meets a virtual thread in a read closes
 * the socket, and with it the session and every other lease on it; so their statements run in a
 * callback thread while they wait. Platform threads call directly.
 */
final class PlatformCalls {
  private final Scheduler scheduler;
  private final long limitNanos;

  /**
   * Calls for a session.
   *
   * @param limit after what time a call is given up for lost; above every timeout of the connection
   */
  PlatformCalls(Scheduler scheduler, Duration limit) {
    this.scheduler = scheduler;
    this.limitNanos = limit.toNanos();
  }

  <T extends @Nullable Object> T run(AdvisorySession.Work<T> work) throws SQLException {
    if (!VirtualThreads.isVirtual(Thread.currentThread())) {
      return work.run();
    }
    CompletableFuture<T> result = new CompletableFuture<>();
    scheduler.execute(
        () -> {
          try {
            result.complete(work.run());
          } catch (Throwable failure) {
            result.completeExceptionally(failure);
          }
        });
    try {
      return BoundedWait.result(result, limitNanos); // The timeouts of the connection end it first.
    } catch (TimeoutException dropped) {
      throw new SQLTimeoutException("the statement was never run", "08003", dropped);
    }
  }
}
