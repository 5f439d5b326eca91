package dev.lukko.redis.protocol;

import static java.lang.System.Logger.Level.WARNING;

import dev.lukko.time.Scheduler;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * What a link still does when it is closed: the releases that are kept are sent behind all else,
 * and their replies are waited for. If there is no connection, or it breaks, one more is made for
 * them. All of that takes no longer than a second.
 *
 * <p>Called with the lock of the {@link RedisLink} held, which is handed in: what comes back from a
 * timer or a reply takes it itself.
 */
final class LastReleases {
  private static final long LAST_TRY_MILLIS = 1_000;

  private final ReentrantLock lock;
  private final LinkEnd end;
  private final LinkReleases releases;
  private final UnsharedWire unshared;
  private final Runnable connect;
  private final Scheduler timers;
  private final String name;

  // guarded by the lock
  private boolean lastTryIsMade;

  /**
   * Nothing to do yet.
   *
   * @param connect begins to make one more connection
   * @param name the node's name in messages
   */
  LastReleases(
      ReentrantLock lock,
      LinkEnd end,
      LinkReleases releases,
      UnsharedWire unshared,
      Runnable connect,
      Scheduler timers,
      String name) {
    this.lock = lock;
    this.end = end;
    this.releases = releases;
    this.unshared = unshared;
    this.connect = connect;
    this.timers = timers;
    this.name = name;
  }

  /**
   * The link is closed.
   *
   * @param current the connection that has served everybody until now, or null
   */
  void onClosed(@Nullable Wire current) {
    if (!releases.isEmpty()) {
      timers.schedule(this::giveUp, TimeUnit.MILLISECONDS.toNanos(LAST_TRY_MILLIS));
      send(current);
    } else if (current != null) {
      end.behind(current);
    } else if (unshared.isUnderWay()) {
      // The driver must not be ended while it makes a connection.
      timers.schedule(this::giveUp, TimeUnit.MILLISECONDS.toNanos(LAST_TRY_MILLIS));
    } else {
      giveUp();
    }
  }

  /** Sends what is kept, on a new connection if there is none. */
  void send(@Nullable Wire current) {
    if (current == null) {
      lastTryIsMade = true;
      if (!unshared.isUnderWay()) {
        connect.run();
      }
      return;
    }
    unshared.set(current);
    CompletableFuture<?>[] replies =
        releases.takeAll().stream()
            .map(release -> releases.send(current, release))
            .toArray(CompletableFuture<?>[]::new);
    var unused = CompletableFuture.allOf(replies).whenComplete((done, error) -> onReplies(current));
  }

  private void onReplies(Wire current) {
    lock.lock();
    try {
      if (!unshared.is(current)) {
        return; // given up meanwhile
      }
      if (releases.isEmpty() || lastTryIsMade) {
        giveUp();
      } else {
        unshared.take();
        var unused = current.close();
        send(null);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Ends what is left after the end of the link. */
  void giveUp() {
    lock.lock();
    try {
      int open = releases.takeAll().size();
      if (open > 0) {
        RedisLink.LOG.log(
            WARNING,
            "{0} is closed with {1} releases of open outcome: entries of theirs end with their ttl",
            name,
            open);
      }
      Wire last = unshared.take();
      if (last != null) {
        end.behind(last);
      } else {
        end.now();
      }
    } finally {
      lock.unlock();
    }
  }
}
