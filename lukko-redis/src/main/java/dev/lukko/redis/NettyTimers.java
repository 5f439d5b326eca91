package dev.lukko.redis;

import dev.lukko.time.Scheduler;
import io.lettuce.core.resource.ClientResources;
import io.netty.util.Timeout;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * The driver's timer, and its threads for work that is neither reading nor writing, as a scheduler.
 * They are not closed with it.
 */
record NettyTimers(ClientResources resources) implements Scheduler {
  private static final System.Logger LOG = System.getLogger(NettyTimers.class.getName());

  @Override
  public Timer schedule(Runnable task, long delayNanos) {
    try {
      Timeout timeout =
          resources
              .timer()
              .newTimeout(expired -> task.run(), Math.max(0, delayNanos), TimeUnit.NANOSECONDS);
      return timeout::cancel;
    } catch (IllegalStateException stopped) {
      LOG.log(System.Logger.Level.DEBUG, "the driver was shut down", stopped);
      return () -> {};
    }
  }

  /** Never in a thread of a connection; where the driver was shut down there are none to block. */
  @Override
  public void execute(Runnable task) {
    try {
      resources.eventExecutorGroup().execute(task);
    } catch (RejectedExecutionException shutDown) {
      task.run();
    }
  }

  @Override
  public void close() {}
}
