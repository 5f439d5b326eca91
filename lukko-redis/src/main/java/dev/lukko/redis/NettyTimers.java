package dev.lukko.redis;

import dev.lukko.time.Scheduler;
import io.netty.util.Timeout;
import java.util.concurrent.TimeUnit;

/** The driver's timer as a scheduler. It is not closed with it. */
record NettyTimers(io.netty.util.Timer timer) implements Scheduler {
  private static final System.Logger LOG = System.getLogger(NettyTimers.class.getName());

  @Override
  public Timer schedule(Runnable task, long delayNanos) {
    try {
      Timeout timeout =
          timer.newTimeout(expired -> task.run(), Math.max(0, delayNanos), TimeUnit.NANOSECONDS);
      return timeout::cancel;
    } catch (IllegalStateException stopped) {
      LOG.log(System.Logger.Level.DEBUG, "the driver was shut down", stopped);
      return () -> {};
    }
  }

  @Override
  public void execute(Runnable task) {
    schedule(task, 0);
  }

  @Override
  public void close() {}
}
