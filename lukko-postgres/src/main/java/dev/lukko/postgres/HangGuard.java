package dev.lukko.postgres;

import dev.lukko.time.Scheduler;
import dev.lukko.time.Ticker;
import java.time.Duration;

/**
 * Bounds what is done under a session's mutex, from outside. A timeout on the socket would bound
 * each read too, at the price of two more system calls for every one of them; this costs two
 * volatile writes and a timer now and then.
 */
final class HangGuard {
  private static final long IDLE = Long.MIN_VALUE;

  private final Scheduler scheduler;
  private final long limitNanos;
  private final Runnable onHang;
  private volatile long busySince = IDLE;
  private volatile boolean armed;

  HangGuard(Scheduler scheduler, Duration limit, Runnable onHang) {
    this.scheduler = scheduler;
    this.limitNanos = limit.toNanos();
    this.onHang = onHang;
  }

  /** Work begins; only the owner of the mutex calls this. */
  void begin() {
    busySince = now();
    if (!armed) {
      armed = true;
      scheduler.schedule(this::look, limitNanos);
    }
  }

  void end() {
    busySince = IDLE;
  }

  private void look() {
    long since = busySince;
    if (since == IDLE) {
      armed = false;
      since = busySince; // Work that began just now may have seen the guard armed.
      if (since == IDLE) {
        return;
      }
      armed = true;
    }
    long left = limitNanos - (now() - since);
    if (left <= 0) {
      armed = false;
      scheduler.execute(onHang);
    } else {
      scheduler.schedule(this::look, left);
    }
  }

  private static long now() {
    long now = Ticker.system().nanoTime();
    return now == IDLE ? now + 1 : now;
  }
}
