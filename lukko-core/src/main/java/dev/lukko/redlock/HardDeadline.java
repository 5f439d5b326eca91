package dev.lukko.redlock;

import dev.lukko.time.Scheduler;
import org.jspecify.annotations.Nullable;

/**
 * The moment at which a call with a wait budget must be over, whatever it is doing: the end of the
 * budget and one node timeout more.
 *
 * <p>A last round that begins when the budget ends is over by then. What can take longer is a token
 * that needs a second question, and the first look at nodes that nobody has admitted; the round
 * under way then ends as if its nodes had timed out.
 */
final class HardDeadline {
  /** More than the timer of a last round needs, so that it is that round which ends the call. */
  private static final long SLACK_NANOS = 1_000_000;

  private final Scheduler scheduler;
  private final Runnable onPassed;
  private Scheduler.@Nullable Timer timer;
  private @Nullable Round<?> running;
  private boolean passed;
  private boolean over;

  /**
   * A deadline that is not set yet.
   *
   * @param onPassed called once it has passed, behind the end of the round under way
   */
  HardDeadline(Scheduler scheduler, Runnable onPassed) {
    this.scheduler = scheduler;
    this.onPassed = onPassed;
  }

  synchronized boolean isSet() {
    return timer != null;
  }

  /** Sets the deadline, or moves it. */
  synchronized void set(long nanosFromNow) {
    if (over) {
      return;
    }
    if (timer != null) {
      timer.cancel();
    }
    timer = scheduler.schedule(this::pass, Math.max(0, nanosFromNow) + SLACK_NANOS);
  }

  /** The round that is under way from now on. */
  void begin(Round<?> round) {
    boolean late;
    synchronized (this) {
      running = round;
      late = passed;
    }
    if (late) {
      round.cutShort();
    }
  }

  synchronized boolean isPassed() {
    return passed;
  }

  /** The call has ended. */
  synchronized void cancel() {
    over = true;
    running = null;
    if (timer != null) {
      timer.cancel();
    }
  }

  private void pass() {
    Round<?> round;
    synchronized (this) {
      if (over) {
        return;
      }
      passed = true;
      round = running;
    }
    if (round != null) {
      round.cutShort();
    }
    onPassed.run();
  }
}
