package dev.lukko.time;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** Runs tasks one after the other, in the threads of another executor. */
final class SerialExecutor implements Executor {
  private static final System.Logger LOG = System.getLogger(SerialExecutor.class.getName());

  private final Executor threads;
  private final Queue<Runnable> queue = new ArrayDeque<>();
  private boolean running;

  SerialExecutor(Executor threads) {
    this.threads = threads;
  }

  @Override
  public void execute(Runnable task) {
    synchronized (queue) {
      queue.add(task);
      if (running) {
        return;
      }
      running = true;
    }
    threads.execute(this::drain);
  }

  private void drain() {
    for (Runnable task = next(); task != null; task = next()) {
      Tasks.run(task, LOG);
    }
  }

  private @Nullable Runnable next() {
    synchronized (queue) {
      Runnable task = queue.poll();
      running = task != null;
      return task;
    }
  }
}
