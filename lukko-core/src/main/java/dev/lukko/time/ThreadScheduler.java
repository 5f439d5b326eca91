package dev.lukko.time;

import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;
import org.jspecify.annotations.Nullable;

/** The scheduler of real time: one timer thread, and threads for tasks that may block. */
final class ThreadScheduler implements Scheduler {
  private static final System.Logger LOG = System.getLogger(ThreadScheduler.class.getName());

  /** So many callbacks may block at a time where the JDK has no virtual threads for more. */
  static final int MOST_CALLBACK_THREADS = 64;

  private final TimerThread timer;
  private final TaskThreads tasks;
  private final TaskThreads callbacks;

  ThreadScheduler(String name) {
    this(
        new DaemonThreads(name + "-timer"),
        new DaemonThreads(name + "-task"),
        new DaemonThreads(name + "-callback"),
        VirtualThreads.factory(name + "-callback"));
  }

  ThreadScheduler(
      ThreadFactory timers,
      ThreadFactory tasks,
      ThreadFactory callbacks,
      @Nullable ThreadFactory virtual) {
    this.timer = new TimerThread(timers);
    this.tasks = new TaskThreads(tasks, null, Integer.MAX_VALUE, timer);
    this.callbacks = new TaskThreads(callbacks, virtual, MOST_CALLBACK_THREADS, timer);
  }

  @Override
  public Timer schedule(Runnable task, long delayNanos) {
    return timer.schedule(() -> Tasks.run(task, LOG), delayNanos);
  }

  @Override
  public void execute(Runnable task) {
    tasks.execute(task);
  }

  @Override
  public Executor callbacks() {
    return callbacks;
  }

  @Override
  public void close() {
    timer.close();
    tasks.close();
    callbacks.close();
  }
}
