package dev.lukko.jdbc;

import dev.lukko.time.Scheduler;
import java.util.concurrent.atomic.AtomicBoolean;

/** Closes connections that nobody uses, and has a timer only while there are connections. */
final class Reaper {
  private final Sessions sessions;
  private final Scheduler scheduler;
  private final long idleMillis;
  private final AtomicBoolean reaping = new AtomicBoolean();

  Reaper(Sessions sessions, Scheduler scheduler, long idleMillis) {
    this.sessions = sessions;
    this.scheduler = scheduler;
    this.idleMillis = idleMillis;
  }

  /** A connection begins to idle. */
  void wake() {
    if (!reaping.get() && reaping.compareAndSet(false, true)) {
      later();
    }
  }

  private void later() {
    scheduler.schedule(() -> scheduler.execute(this::reap), idleMillis * 1_000_000L / 2 + 1);
  }

  private void reap() {
    sessions.closeIdle();
    if (sessions.hasIdle()) {
      later();
      return;
    }
    reaping.set(false);
    if (sessions.hasIdle()) {
      wake();
    }
  }
}
