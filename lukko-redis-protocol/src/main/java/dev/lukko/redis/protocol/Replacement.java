package dev.lukko.redis.protocol;

import dev.lukko.time.Scheduler;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;

/**
 * A second connection to the server of a link, made while the one in use is silent: if the server
 * answers on it and the other is still silent, it takes its place. One at a time, and none that
 * stays: it is used or closed.
 *
 * <p>Guarded by the lock of the {@link RedisLink}, which is handed in; what comes back from the
 * driver takes it itself.
 */
final class Replacement {
  private static final long END_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final ReentrantLock lock;
  private final Connector connector;
  private final Scheduler timers;
  private final String recordsKey;
  private final Duration connectTimeout;
  private final Duration commandTimeout;

  // guarded by the lock
  private CompletableFuture<Void> attempt = CompletableFuture.completedFuture(null);
  private boolean ended;

  Replacement(
      ReentrantLock lock,
      Connector connector,
      Scheduler timers,
      String recordsKey,
      Duration connectTimeout,
      Duration commandTimeout) {
    this.lock = lock;
    this.connector = connector;
    this.timers = timers;
    this.recordsKey = recordsKey;
    this.connectTimeout = connectTimeout;
    this.commandTimeout = commandTimeout;
  }

  /**
   * Begins to connect, unless an attempt is under way.
   *
   * @param user takes a connection whose server has told who it is into use, with the lock held;
   *     says whether it has
   */
  void begin(BiPredicate<Wire, Survey> user) {
    lock.lock();
    try {
      if (ended || !attempt.isDone()) {
        return;
      }
      attempt = new CompletableFuture<>();
    } finally {
      lock.unlock();
    }
    CompletableFuture<ServerConnection> connecting = Elsewhere.begin(timers, connector::connect);
    var unused =
        connecting.whenCompleteAsync(
            (connection, error) -> onTried(connection, user), timers::execute);
  }

  /** A failed attempt needs no word: the connection in use is still watched. */
  private void onTried(@Nullable ServerConnection connection, BiPredicate<Wire, Survey> user) {
    if (connection == null) {
      done(null, null, user);
      return;
    }
    Wire fresh = new Wire(connection, timers, commandTimeout);
    var unused =
        fresh
            .survey(recordsKey, connectTimeout)
            .whenCompleteAsync((survey, error) -> done(fresh, survey, user), timers::execute);
  }

  private void done(@Nullable Wire fresh, @Nullable Survey survey, BiPredicate<Wire, Survey> user) {
    CompletableFuture<Void> over;
    lock.lock();
    try {
      over = attempt;
      if (fresh != null && (ended || survey == null || !user.test(fresh, survey))) {
        var unused = fresh.close().whenComplete((closed, error) -> over.complete(null));
        return;
      }
    } finally {
      lock.unlock();
    }
    over.complete(null);
  }

  /** Begins no other attempt; completes when none is under way, within a second. */
  CompletableFuture<Void> end() {
    CompletableFuture<Void> last;
    lock.lock();
    try {
      ended = true;
      last = attempt;
    } finally {
      lock.unlock();
    }
    if (!last.isDone()) {
      timers.schedule(() -> last.complete(null), END_NANOS);
    }
    return last;
  }
}
