package dev.lukko.time;

/** How a task of another's is run: what it throws is logged, and ends nothing but the task. */
final class Tasks {
  private Tasks() {}

  static void run(Runnable task, System.Logger log) {
    try {
      task.run();
    } catch (Throwable failure) { // Not even an error may take the thread from the other tasks.
      log(log, System.Logger.Level.ERROR, "a task failed in a thread of Lukko", failure);
    }
  }

  /** Logs, unless even that fails: the JVM may be out of memory. */
  static void log(System.Logger log, System.Logger.Level level, String message, Throwable failure) {
    try {
      log.log(level, message, failure);
    } catch (Throwable unloggable) {
      if (unloggable != failure) { // The JVM keeps one for want of memory.
        failure.addSuppressed(unloggable);
      }
    }
  }
}
