package dev.lukko.schedule;

import dev.lukko.ClientClosedException;
import dev.lukko.LockInterruptedException;
import dev.lukko.LockNotAcquiredException;
import dev.lukko.time.Scheduler;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Waits until a tick is due by the store's clock, if that is soon. */
final class DueWait implements AutoCloseable {
  /** The store's clock and ours may run at different speeds, but not for ever. */
  private static final int MAX_ROUNDS = 10;

  private static final Duration SLACK = Duration.ofMinutes(1);

  private final LastRunStore store;
  private final Scheduler scheduler;
  private final boolean ownsScheduler;
  private final Set<CountDownLatch> waits = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  DueWait(LastRunStore store, @Nullable Scheduler scheduler) {
    this.store = store;
    this.ownsScheduler = scheduler == null;
    this.scheduler = scheduler == null ? Scheduler.create("lukko-schedule") : scheduler;
  }

  /** Gives how much is missing until the tick is due; zero if it is. */
  Duration until(List<String> resources, Instant tick, Duration maxEarly) {
    for (int round = 0; ; round++) {
      Instant now = store.now();
      if (!tick.isAfter(now)) {
        return Duration.ZERO;
      }
      Duration missing = Duration.between(now, tick);
      if (round == MAX_ROUNDS || missing.compareTo(maxEarly) > 0) {
        return missing;
      }
      pause(resources, missing);
    }
  }

  private void pause(List<String> resources, Duration duration) {
    CountDownLatch over = new CountDownLatch(1);
    waits.add(over);
    Scheduler.Timer timer =
        scheduler.schedule(over::countDown, Scheduler.toNanosSaturated(duration));
    try {
      if (!closed) {
        // The limit is for a scheduler that somebody else has closed.
        var unused = over.await(duration.plus(SLACK).toMillis(), TimeUnit.MILLISECONDS);
      }
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new LockInterruptedException(
          new LockNotAcquiredException.Attempt(resources, Duration.ZERO, 0, false, List.of()));
    } finally {
      timer.cancel();
      waits.remove(over);
    }
    if (closed) {
      throw new ClientClosedException("closed while " + resources + " waited for its tick");
    }
  }

  @Override
  public void close() {
    closed = true;
    waits.forEach(CountDownLatch::countDown);
    if (ownsScheduler) {
      scheduler.close();
    }
  }
}
