package dev.lukko.jdbc;

import dev.lukko.spi.LockEntry;
import dev.lukko.spi.NodeFault;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.time.Scheduler;
import dev.lukko.time.Ticker;
import java.util.Comparator;
import java.util.HashSet;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Releases that did not reach the server, or may have overtaken their grant. They are sent again,
 * one at a time, until the server has answered or the entry must have expired by itself.
 */
final class KeptReleases {
  private static final System.Logger LOG = System.getLogger(KeptReleases.class.getName());
  private static final long MIN_PAUSE_NANOS = 50_000_000L;
  private static final long MAX_PAUSE_NANOS = 2_000_000_000L;
  private static final long UNKNOWN_TTL_NANOS = 60_000_000_000L;

  private final Ticker ticker;
  private final Scheduler scheduler;
  private final Holds holds;
  private final Function<LockEntry, CompletionStage<ReleaseReply>> sender;
  private final PriorityQueue<Kept> queue =
      new PriorityQueue<>(Comparator.comparingLong(Kept::dueNanos));
  private final Set<LockEntry> entries = new HashSet<>();
  private boolean running;
  private boolean closed;
  private long pauseNanos = MIN_PAUSE_NANOS;

  KeptReleases(
      Ticker ticker,
      Scheduler scheduler,
      Holds holds,
      Function<LockEntry, CompletionStage<ReleaseReply>> sender) {
    this.ticker = ticker;
    this.scheduler = scheduler;
    this.holds = holds;
    this.sender = sender;
  }

  private record Kept(LockEntry entry, long untilNanos, long dueNanos, long pauseNanos) {
    Kept later(long now, long pause) {
      return new Kept(entry, untilNanos, now + pause, pause);
    }
  }

  /** A release by the user has ended. */
  void ended(LockEntry entry, ReleaseReply reply) {
    if (reply instanceof NodeFault || !holds.isSettledBy(entry, reply)) {
      keep(entry);
    }
  }

  private synchronized void keep(LockEntry entry) {
    if (closed || !entries.add(entry)) {
      return;
    }
    long until = holds.until(entry, UNKNOWN_TTL_NANOS);
    long due = ticker.nanoTime() + MIN_PAUSE_NANOS;
    queue.add(new Kept(entry, until, due, MIN_PAUSE_NANOS));
    if (!running) {
      running = true;
      scheduler.schedule(this::next, MIN_PAUSE_NANOS);
    }
  }

  private void next() {
    Kept due = dueNow();
    if (due != null) {
      sender.apply(due.entry()).whenComplete((reply, failure) -> answered(due, reply));
    }
  }

  /** The release whose time has come; if none has, the timer is set or the work is done. */
  private synchronized @Nullable Kept dueNow() {
    long now = ticker.nanoTime();
    while (!closed) {
      Kept first = queue.peek();
      if (first == null) {
        break;
      }
      if (first.untilNanos() - now <= 0) {
        queue.poll();
        drop(first);
      } else if (first.dueNanos() - now > 0) {
        scheduler.schedule(this::next, first.dueNanos() - now);
        return null;
      } else {
        return queue.poll();
      }
    }
    running = false;
    return null;
  }

  private synchronized void answered(Kept kept, @Nullable ReleaseReply reply) {
    long now = ticker.nanoTime();
    if (reply == null || reply instanceof NodeFault) {
      // The next one would fare no better: all of them wait.
      pauseNanos = Math.min(MAX_PAUSE_NANOS, pauseNanos * 2);
      queue.add(kept.later(now, pauseNanos));
      scheduler.schedule(this::next, pauseNanos);
      return;
    }
    pauseNanos = MIN_PAUSE_NANOS;
    if (holds.isSettledBy(kept.entry(), reply)) {
      entries.remove(kept.entry());
    } else {
      queue.add(kept.later(now, Math.min(MAX_PAUSE_NANOS, kept.pauseNanos() * 2)));
    }
    scheduler.schedule(this::next, 0);
  }

  private void drop(Kept kept) {
    entries.remove(kept.entry());
    holds.forget(kept.entry());
    LOG.log(
        System.Logger.Level.DEBUG,
        () -> "the entry for " + kept.entry().resources() + " has expired without a release");
  }

  synchronized int size() {
    return entries.size();
  }

  synchronized void close() {
    closed = true;
    queue.clear();
    entries.clear();
  }
}
