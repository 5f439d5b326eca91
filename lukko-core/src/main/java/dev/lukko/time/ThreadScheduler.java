package dev.lukko.time;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The scheduler of real time: one timer thread, callback threads on demand, all daemons. */
final class ThreadScheduler implements Scheduler {
  private static final System.Logger LOG = System.getLogger(ThreadScheduler.class.getName());

  private final TimerThread timer;
  private final ThreadPoolExecutor callbacks;

  ThreadScheduler(String name) {
    timer = new TimerThread(new DaemonThreads(name + "-timer"));
    callbacks =
        new ThreadPoolExecutor(
            0,
            Integer.MAX_VALUE,
            10,
            TimeUnit.SECONDS,
            new SynchronousQueue<>(),
            new DaemonThreads(name + "-callback"));
  }

  @Override
  public Timer schedule(Runnable task, long delayNanos) {
    return timer.schedule(guarded(task), delayNanos);
  }

  @Override
  public void execute(Runnable task) {
    try {
      callbacks.execute(guarded(task));
    } catch (RejectedExecutionException closed) {
      LOG.log(System.Logger.Level.DEBUG, "callback dropped, the scheduler is closed");
    }
  }

  @Override
  public void close() {
    timer.close();
    callbacks.shutdown();
  }

  private static Runnable guarded(Runnable task) {
    return () -> {
      try {
        task.run();
      } catch (Throwable failure) {
        LOG.log(System.Logger.Level.ERROR, "a task failed in a thread of Lukko", failure);
        if (failure instanceof VirtualMachineError error) {
          throw error;
        }
      }
    };
  }
}
