package dev.lukko.redlock;

import dev.lukko.time.Scheduler;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The one timer of a hold: it makes the end of the validity known, and extends before that end.
 *
 * <p>Every due time is computed from the hold's present window, never from the previous timer, so
 * that there is neither drift nor a hot loop. A failed extension is tried again until the end.
 */
final class Watchdog {
  private static final long SHORTEST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  private static final long STOOD_STILL_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  private final Context context;
  private final Hold hold;
  private final long ttlNanos;
  private final boolean extending;
  private Scheduler.@Nullable Timer timer;
  private boolean stopped;
  private boolean underWay;
  private boolean abandoned;
  private long notBeforeNanos;

  /**
   * A watchdog.
   *
   * @param autoExtendTtlNanos the ttl to extend by, or its negative when the hold is not to be
   *     extended in the background
   */
  Watchdog(Context context, Hold hold, long autoExtendTtlNanos) {
    this.context = context;
    this.hold = hold;
    this.ttlNanos = Math.abs(autoExtendTtlNanos);
    this.extending = autoExtendTtlNanos > 0;
    this.notBeforeNanos = context.ticker.nanoTime();
  }

  long ttlNanos() {
    return ttlNanos;
  }

  /** Sets the timer anew by the hold's present window. */
  synchronized void arm() {
    if (stopped) {
      return;
    }
    if (timer != null) {
      timer.cancel();
    }
    long readNanos = context.ticker.nanoTime();
    long delay = hold.remainingNanos();
    if (extending && !underWay && !abandoned && !hold.isAtLimit()) {
      delay = Math.min(delay, untilExtensionNanos());
    }
    if (stopped) {
      return; // Asking for the remaining time has found the hold ended.
    }
    timer = context.scheduler.schedule(this::wake, delay);
    if (context.ticker.nanoTime() - readNanos > STOOD_STILL_NANOS) {
      // The process stood still while this was worked out: the timer would be late by as much.
      timer.cancel();
      timer = context.scheduler.schedule(this::wake, 0);
    }
  }

  synchronized void stop() {
    stopped = true;
    if (timer != null) {
      timer.cancel();
    }
  }

  private long untilExtensionNanos() {
    long byWindow = hold.remainingNanos() - context.settings.extendAtRemainingNanos(ttlNanos);
    return Math.max(byWindow, notBeforeNanos - context.ticker.nanoTime());
  }

  /** The timer is set anew whatever happens in between: without it, no loss would be reported. */
  private void wake() {
    try {
      extendIfDue();
    } finally {
      arm();
    }
  }

  private void extendIfDue() {
    boolean leaked = hold.isLeaked();
    if (!hold.isValid()) {
      return; // Asking has made the loss known.
    }
    boolean due;
    synchronized (this) {
      abandoned = leaked;
      due = extending && !stopped && !underWay && !hold.isAtLimit() && untilExtensionNanos() <= 0;
      underWay |= due;
    }
    if (!due) {
      return;
    }
    CompletableFuture<Boolean> extension;
    try {
      extension = hold.extend(ttlNanos);
    } catch (Throwable mistake) { // It would count as under way for ever.
      onExtended();
      throw mistake;
    }
    extension.whenComplete((extended, lost) -> onExtended());
  }

  private void onExtended() {
    synchronized (this) {
      underWay = false;
      notBeforeNanos = context.ticker.nanoTime() + Math.max(SHORTEST_PAUSE_NANOS, ttlNanos / 10);
    }
    arm();
  }
}
