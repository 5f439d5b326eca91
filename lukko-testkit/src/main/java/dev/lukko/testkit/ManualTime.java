package dev.lukko.testkit;

import dev.lukko.time.Scheduler;
import dev.lukko.time.Ticker;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/**
 * Clocks, timers and callbacks that move only when a test says so.
 *
 * <p>Hand it to a client as ticker and as scheduler. Timers run in the thread that moves the time,
 * in the order in which they are due, callbacks in the thread that causes them; nothing runs by
 * itself. Thread-safe.
 */
public final class ManualTime implements Ticker, Scheduler {
  private static final System.Logger LOG = System.getLogger(ManualTime.class.getName());
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  private final PriorityQueue<Task> tasks =
      new PriorityQueue<>(
          Comparator.comparingLong((Task task) -> task.dueNanos)
              .thenComparingLong(task -> task.number));
  private final Queue<Runnable> given = new ArrayDeque<>();
  private final Executor callbacks = this::runCallback;
  private boolean running;
  private long nanos;
  private long wallMicros = START.getEpochSecond() * 1_000_000L;
  private long scheduled;
  private boolean closed;

  /** Time that stands at its start: zero nanoseconds, 2026-01-01T00:00:00Z. */
  public ManualTime() {}

  @Override
  public synchronized long nanoTime() {
    return nanos;
  }

  @Override
  public synchronized long wallMicros() {
    return wallMicros;
  }

  /** Moves both clocks on, and runs on the way whatever becomes due, each at its time. */
  public void advance(Duration duration) {
    long end;
    synchronized (this) {
      end = nanos + duration.toNanos();
    }
    for (Task task = nextDueBy(end); task != null; task = nextDueBy(end)) {
      run(task.action);
    }
    synchronized (this) {
      moveTo(end);
    }
  }

  /**
   * As a real scheduler does: what a task throws ends the task, and neither timers nor the test.
   */
  private static void run(Runnable action) {
    try {
      action.run();
    } catch (RuntimeException failure) {
      LOG.log(System.Logger.Level.ERROR, "a task failed in manual time", failure);
    }
  }

  /** Runs what is due now, and what that makes due at once. */
  public void runDue() {
    advance(Duration.ZERO);
  }

  /**
   * Moves both clocks on while nothing runs, as for a process that was stopped: whatever became due
   * meanwhile is run by the next {@link #runDue}, late.
   */
  public synchronized void pauseProcess(Duration duration) {
    moveTo(nanos + duration.toNanos());
  }

  /** Moves the wall clock alone: forward, as a suspended machine's does, or back. */
  public synchronized void jumpWallClock(Duration duration) {
    wallMicros += duration.toNanos() / 1_000;
  }

  /** How many timers and callbacks are waiting. */
  public synchronized int pending() {
    return tasks.size();
  }

  @Override
  public synchronized Timer schedule(Runnable task, long delayNanos) {
    if (closed) {
      return () -> {};
    }
    Task added = new Task(task, nanos + Math.max(0, delayNanos), scheduled++);
    tasks.add(added);
    return () -> {
      synchronized (this) {
        tasks.remove(added);
      }
    };
  }

  @Override
  public void execute(Runnable task) {
    schedule(task, 0);
  }

  /**
   * Runs callbacks at once, in the thread that causes them, one after the other: the end of a
   * future can be seen by the next line of a test.
   */
  @Override
  public Executor callbacks() {
    return callbacks;
  }

  private void runCallback(Runnable task) {
    synchronized (given) {
      given.add(task);
      if (running) {
        return;
      }
      running = true;
    }
    for (Runnable next = nextCallback(); next != null; next = nextCallback()) {
      run(next);
    }
  }

  private @Nullable Runnable nextCallback() {
    synchronized (given) {
      Runnable next = given.poll();
      running = next != null;
      return next;
    }
  }

  /** Runs what is due now; the time does not move. */
  @Override
  public boolean await(Future<?> future, long timeoutNanos) {
    if (!future.isDone()) {
      runDue();
    }
    return future.isDone();
  }

  @Override
  public synchronized void close() {
    closed = true;
    tasks.clear();
  }

  private synchronized @Nullable Task nextDueBy(long end) {
    Task next = tasks.peek();
    if (next == null || next.dueNanos > end) {
      return null;
    }
    tasks.poll();
    moveTo(Math.max(nanos, next.dueNanos));
    return next;
  }

  private void moveTo(long newNanos) {
    // Whole microseconds of the monotonic clock, so that many small steps lose nothing.
    wallMicros += newNanos / 1_000 - nanos / 1_000;
    nanos = newNanos;
  }

  private static final class Task {
    final Runnable action;
    final long dueNanos;
    final long number;

    Task(Runnable action, long dueNanos, long number) {
      this.action = action;
      this.dueNanos = dueNanos;
      this.number = number;
    }
  }
}
