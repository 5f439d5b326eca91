package dev.lukko.view;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Runs a task in several threads at the same time and passes on what any of them threw. */
final class Threads {
  private Threads() {}

  interface Task {
    void run(int thread) throws Exception;
  }

  static void together(int count, Task task) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(count);
    try {
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        int thread = i;
        Callable<Void> call =
            () -> {
              task.run(thread);
              return null;
            };
        running.add(threads.submit(call));
      }
      for (Future<?> each : running) {
        each.get(100, TimeUnit.SECONDS);
      }
    } finally {
      threads.shutdownNow();
    }
  }
}
