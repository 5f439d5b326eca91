package dev.lukko.mongodb;

import dev.lukko.release.OwnerLanes;
import dev.lukko.time.DaemonThreads;
import dev.lukko.time.Scheduler;
import dev.lukko.time.Uninterrupted;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Runs calls on the node's few threads. A call that has no answer by its deadline is given up by a
 * timer, whatever its thread is stuck in; the driver's own limit, which is the same, frees the
 * thread.
 */
final class Calls {
  private static final long IDLE_SECONDS = 30;
  private static final int FREE_RETRIES = 2;
  private static final long MAX_PAUSE_MICROS = 50_000L;

  private final MongoSettings settings;
  private final Scheduler scheduler;
  private final ThreadPoolExecutor workers;
  private final OwnerLanes<Call<?>> lanes = new OwnerLanes<>(Call::owner);
  private final Set<Call<?>> inFlight = ConcurrentHashMap.newKeySet();
  private final AtomicInteger load = new AtomicInteger();
  private final CountDownLatch stop = new CountDownLatch(1);
  private final CompletableFuture<@Nullable Void> allEnded = new CompletableFuture<>();

  Calls(String threadName, MongoSettings settings, Scheduler scheduler) {
    this.settings = settings;
    this.scheduler = scheduler;
    // The queue needs no bound of its own: submit() counts.
    workers =
        new ThreadPoolExecutor(
            settings.maxConnections(),
            settings.maxConnections(),
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedTransferQueue<>(),
            new DaemonThreads(threadName)) {
          @Override
          protected void terminated() {
            allEnded.complete(null);
          }
        };
    workers.allowCoreThreadTimeOut(true);
  }

  private boolean isClosed() {
    return stop.getCount() == 0;
  }

  boolean isQuiet() {
    return load.get() == 0 && inFlight.isEmpty() && lanes.isEmpty();
  }

  void submit(Call<?> call) {
    int limit = settings.maxConnections() + settings.queueCapacity();
    if (isClosed()) {
      call.refuse("the node is closed");
      return;
    }
    if (load.incrementAndGet() > limit) {
      load.decrementAndGet();
      call.refuse("queue full: " + limit + " requests are on their way; not sent");
      return;
    }
    inFlight.add(call);
    long millis = settings.requestTimeoutMillis();
    call.endedBy(
        scheduler.schedule(
            () -> call.expire("timeout after " + millis + " ms"), millis * 1_000_000L));
    if (isClosed()) { // The end may have missed this one.
      call.refuse("the node is closed");
    }
    if (lanes.enter(call)) {
      handOver(call);
    }
  }

  private void handOver(Call<?> call) {
    try {
      workers.execute(() -> runLane(call));
    } catch (RejectedExecutionException closing) {
      for (Call<?> next = call; next != null; next = left(next)) {
        next.refuse("the node is closed");
      }
    }
  }

  private void runLane(Call<?> first) {
    for (Call<?> call = first; call != null; ) {
      Call<?> current = call;
      try {
        current.run();
      } finally {
        var unused = Thread.interrupted();
        call = left(current);
      }
    }
  }

  private @Nullable Call<?> left(Call<?> call) {
    inFlight.remove(call);
    load.decrementAndGet();
    return lanes.leave(call);
  }

  /**
   * Waits for a moment before another attempt, longer each time.
   *
   * @throws GivenUpException if there is none
   */
  void pause(Call<?> call, int attempt) {
    long left = call.leftMillis() * 1_000L;
    long upper = Math.min(MAX_PAUSE_MICROS, 500L << Math.min(attempt, 10));
    long micros =
        attempt <= FREE_RETRIES ? 0 : ThreadLocalRandom.current().nextLong(upper / 2, upper + 1);
    try {
      if (micros >= left || stop.await(micros, TimeUnit.MICROSECONDS)) {
        throw new GivenUpException();
      }
    } catch (InterruptedException closing) {
      throw new GivenUpException();
    }
  }

  /**
   * Ends everything: what waits is refused, releases excepted; what runs has the grace to end, and
   * is then given up.
   *
   * @return whether all of it has ended
   */
  boolean close(long graceMillis) {
    stop.countDown();
    for (Call<?> call : inFlight) {
      if (!call.isRelease()) {
        call.refuse("the node is closed");
      }
    }
    workers.shutdown();
    boolean ended = Uninterrupted.await(allEnded, graceMillis * 1_000_000L);
    for (Call<?> call : inFlight) {
      call.expire("the node is closed");
    }
    return ended;
  }

  /** Interrupts what has not ended. */
  void closeNow() {
    workers.shutdownNow();
  }
}
