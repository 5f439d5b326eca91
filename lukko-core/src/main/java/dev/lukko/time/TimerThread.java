package dev.lukko.time;

import java.util.Comparator;
import java.util.TreeSet;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One daemon thread that runs short tasks when they are due.
 *
 * <p>Most timers of a lock are node timeouts: set for every round, and cancelled before they are
 * due. A scheduled executor wakes its thread whenever a timer becomes the earliest, so every round
 * would cost a context switch for nothing. Here the thread is woken only if a task is due before
 * the thread would wake by itself, and a cancelled task leaves that moment as it is; so the thread
 * wakes about as often as a timeout is long, however many rounds are made meanwhile. (Measured: see
 * docs/internals/decisions.md.)
 */
final class TimerThread {
  private static final System.Logger LOG = System.getLogger(TimerThread.class.getName());
  private static final long LONGEST_DELAY_NANOS = Long.MAX_VALUE / 2;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition earlier = lock.newCondition();
  private final TreeSet<Entry> entries =
      new TreeSet<>(Comparator.comparingLong(Entry::dueNanos).thenComparingLong(Entry::number));
  private final AtomicLong numbers = new AtomicLong();
  private final long originNanos = System.nanoTime();
  private final ThreadFactory threads;
  private @Nullable Thread thread;
  private long wakesAtNanos;
  private boolean closed;

  TimerThread(ThreadFactory threads) {
    this.threads = threads;
  }

  /** Runs the task after the delay, unless it is cancelled or the thread closed before. */
  Scheduler.Timer schedule(Runnable task, long delayNanos) {
    long delay = Math.max(0, Math.min(delayNanos, LONGEST_DELAY_NANOS));
    Entry entry = new Entry(task, sinceOrigin() + delay, numbers.getAndIncrement());
    lock.lock();
    try {
      if (closed) {
        return () -> {};
      }
      entries.add(entry);
      if (thread == null) {
        startThread(entry);
      } else if (entry.dueNanos() < wakesAtNanos) {
        wakesAtNanos = entry.dueNanos;
        earlier.signal();
      }
    } finally {
      lock.unlock();
    }
    return () -> cancel(entry);
  }

  /** Starts the thread, or throws and is as it was before: no task is taken that cannot be run. */
  private void startThread(Entry first) {
    try {
      Thread made = threads.newThread(this::run);
      if (made == null) {
        throw new RejectedExecutionException("the JVM gave no thread for the timers");
      }
      made.start();
      thread = made;
    } finally {
      if (thread == null) {
        entries.remove(first);
      }
    }
  }

  private void cancel(Entry entry) {
    lock.lock();
    try {
      entries.remove(entry);
    } finally {
      lock.unlock();
    }
  }

  /** Drops all tasks and ends the thread, behind the task that it may be running. */
  void close() {
    lock.lock();
    try {
      closed = true;
      entries.clear();
      earlier.signal();
    } finally {
      lock.unlock();
    }
  }

  /** Runs what is due. No error of one task may take away the loss signals of all leases. */
  private void run() {
    boolean open = true;
    while (open) {
      try {
        Entry due = awaitDue();
        open = due != null;
        if (due != null) {
          due.task().run();
        }
      } catch (Throwable failure) {
        Tasks.log(LOG, System.Logger.Level.ERROR, "a timer failed", failure);
      }
    }
  }

  private @Nullable Entry awaitDue() {
    lock.lock();
    try {
      while (!closed) {
        long now = sinceOrigin();
        Entry first = entries.isEmpty() ? null : entries.first();
        if (first != null && first.dueNanos() <= now) {
          entries.remove(first);
          wakesAtNanos = now; // It looks at the queue again before it sleeps.
          return first;
        }
        wakesAtNanos = first == null ? now + LONGEST_DELAY_NANOS : first.dueNanos();
        sleep(wakesAtNanos - now);
      }
      return null;
    } finally {
      lock.unlock();
    }
  }

  @SuppressWarnings(
      "WaitNotInLoop") // The loop is the caller's: it looks at the queue after every wake.
  private void sleep(long nanos) {
    try {
      var unused = earlier.awaitNanos(nanos);
    } catch (InterruptedException notOurs) {
      // Nobody has a reason to interrupt this thread; closing it is what ends it.
    }
  }

  /**
   * The monotonic clock from an origin at which it is near zero, so that times compare as numbers.
   */
  private long sinceOrigin() {
    return System.nanoTime() - originNanos;
  }

  /** A task, equal to itself only by its number. */
  private record Entry(Runnable task, long dueNanos, long number) {}
}
