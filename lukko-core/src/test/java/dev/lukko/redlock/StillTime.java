package dev.lukko.redlock;

import dev.lukko.time.Scheduler;
import dev.lukko.time.Ticker;

/** Clocks that stand still, timers that never fire, and callbacks in the caller's thread. */
enum StillTime implements Ticker, Scheduler {
  INSTANCE;

  @Override
  public long nanoTime() {
    return 0;
  }

  @Override
  public long wallMicros() {
    return 1;
  }

  @Override
  public Timer schedule(Runnable task, long delayNanos) {
    return () -> {};
  }

  @Override
  public void execute(Runnable task) {
    task.run();
  }

  @Override
  public void close() {}
}
