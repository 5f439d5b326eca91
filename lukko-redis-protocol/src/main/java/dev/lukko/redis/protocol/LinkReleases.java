package dev.lukko.redis.protocol;

import dev.lukko.redis.protocol.RedisAddress.Place;
import dev.lukko.redis.protocol.RedisLink.Cluster;
import dev.lukko.spi.NodeFault;
import dev.lukko.time.Scheduler;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The releases of a link: they are sent, and kept and sent again for as long as their outcome is
 * open.
 *
 * <p>Thread-safe where it says so; the rest is called with the lock of the {@link RedisLink} held,
 * which is handed in.
 */
final class LinkReleases {
  private static final long RESEND_MILLIS = 500;
  private static final Place NOWHERE = new Place("", 0);

  private final ReentrantLock lock;
  private final LinkEnd end;
  private final Supplier<@Nullable Wire> shared;
  private final Scheduler timers;
  private final @Nullable Cluster cluster;

  // guarded by the lock
  private final PendingReleases pending = new PendingReleases();
  private boolean resendIsScheduled;
  private volatile long longestTtlNanos; // also read without the lock

  /**
   * No release yet.
   *
   * @param shared gives the connection that serves everybody, or null; called with the lock held
   * @param cluster who takes releases that must go to another server, or null
   */
  LinkReleases(
      ReentrantLock lock,
      LinkEnd end,
      Supplier<@Nullable Wire> shared,
      Scheduler timers,
      @Nullable Cluster cluster) {
    this.lock = lock;
    this.end = end;
    this.shared = shared;
    this.timers = timers;
    this.cluster = cluster;
  }

  /** Remembers for how long entries of this client may live. Thread-safe. */
  void noteTtl(long ttlMillis) {
    long ttlNanos = TimeUnit.MILLISECONDS.toNanos(ttlMillis);
    if (ttlNanos <= longestTtlNanos) {
      return;
    }
    lock.lock();
    try {
      longestTtlNanos = Math.max(longestTtlNanos, ttlNanos);
    } finally {
      lock.unlock();
    }
  }

  /** Whether none is kept; the lock is held. */
  boolean isEmpty() {
    return pending.isEmpty();
  }

  /** Keeps one that cannot be sent now; the lock is held. */
  void keep(PendingRelease release) {
    pending.keep(release);
  }

  /** Gives all that are kept, and keeps them no longer; the lock is held. */
  List<PendingRelease> takeAll() {
    return pending.takeAll();
  }

  /** Sends what is kept; the lock is held. */
  void sendPending(Wire current) {
    for (PendingRelease release : pending.takeAll()) {
      var unused =
          send(current, release)
              .whenComplete(
                  (value, error) -> {
                    if (error != null && isMoved(error)) {
                      misplaced(List.of(release));
                    }
                  });
    }
  }

  /** Sends one, and keeps it again if its outcome stays open; the lock is held. */
  CompletableFuture<List<Object>> send(Wire current, PendingRelease release) {
    // Whoever learns of a failure, and perhaps closes the node then, finds the release kept.
    return current
        .send(release.call())
        .whenComplete(
            (value, error) -> {
              if (error != null) {
                onFault(release, Faults.ofRequest(error));
              }
            });
  }

  /** Leaves releases to the other servers of the cluster, if there is one. Thread-safe. */
  void misplaced(List<PendingRelease> releases) {
    if (cluster != null) {
      releases.forEach(release -> cluster.onMisplaced(release.call()));
    }
  }

  private static boolean isMoved(Throwable error) {
    return Redirect.of(error, NOWHERE) != null;
  }

  private void onFault(PendingRelease release, NodeFault fault) {
    if (fault.cause() != null && isMoved(fault.cause())) {
      return; // this server has nothing of it, nor will it ever
    }
    lock.lock();
    try {
      long nowNanos = System.nanoTime();
      if (fault.cause() instanceof ServerErrorException) {
        release.refused(nowNanos);
      }
      if (!end.isOver() && !release.isPointless(nowNanos, longestTtlNanos)) {
        pending.keep(release);
        if (!end.hasBegun()) {
          scheduleResend();
        }
      }
    } finally {
      lock.unlock();
    }
  }

  private void scheduleResend() {
    if (!resendIsScheduled) {
      resendIsScheduled = true;
      timers.schedule(this::resend, TimeUnit.MILLISECONDS.toNanos(RESEND_MILLIS));
    }
  }

  private void resend() {
    lock.lock();
    try {
      resendIsScheduled = false;
      Wire current = shared.get();
      if (current != null) {
        sendPending(current);
      }
    } finally {
      lock.unlock();
    }
  }
}
