package dev.lukko.time;

import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** Hands tasks to another executor, and runs in threads of its own what that one refuses. */
final class RescueExecutor implements Callbacks.ClosableExecutor {
  private static final System.Logger LOG = System.getLogger(RescueExecutor.class.getName());

  private final Executor first;
  private final String name;
  private @Nullable Scheduler rescue;
  private boolean closed;
  private volatile boolean refused;

  RescueExecutor(Executor first, String name) {
    this.first = first;
    this.name = name;
  }

  @Override
  public void execute(Runnable task) {
    Runnable once = new Once(task);
    try {
      first.execute(once);
      refused = false;
    } catch (Throwable refusal) {
      if (!refused) { // Said once, until it takes tasks again.
        refused = true;
        Tasks.log(
            LOG,
            System.Logger.Level.WARNING,
            "the executor for callbacks refuses; they run in threads of Lukko's",
            refusal);
      }
      rescue().callbacks().execute(once);
    }
  }

  private synchronized Scheduler rescue() {
    Scheduler threads = rescue;
    if (threads == null) {
      threads = Scheduler.create(name);
      rescue = threads;
      if (closed) {
        threads.close(); // It still runs what it is given, and keeps no thread for more.
      }
    }
    return threads;
  }

  @Override
  public synchronized void close() {
    closed = true;
    if (rescue != null) {
      rescue.close();
    }
  }

  /** A task that an executor may have begun, or kept, before it threw. */
  private static final class Once implements Runnable {
    private final Runnable task;
    private final AtomicBoolean begun = new AtomicBoolean();

    Once(Runnable task) {
      this.task = task;
    }

    @Override
    public void run() {
      if (begun.compareAndSet(false, true)) {
        Tasks.run(task, LOG);
      }
    }
  }
}
