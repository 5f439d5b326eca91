package dev.lukko.redis.protocol;

import dev.lukko.redis.protocol.RedisAddress.Place;
import dev.lukko.redis.protocol.RedisLink.Cluster;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.NodeFault;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.time.Scheduler;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The releases of a link: they are sent, and kept and sent again for as long as their outcome is
 * open.
 *
 * <p>Kept is only the release of an entry that may be at the server, each once, in the order in
 * which they came; so there are never more of them than entries that can have been sent. A release
 * is over when the server has deleted the entry, or has answered behind everything that could
 * create it; see {@link OpenEntry#isGone}. Sending it again is harmless: it deletes only what its
 * own owner holds.
 *
 * <p>Thread-safe where it says so; the rest is called with the lock of the {@link RedisLink} held,
 * which is handed in.
 */
final class LinkReleases {
  private static final long TICK_MILLIS = 50;
  private static final Place NOWHERE = new Place("", 0);

  private final ReentrantLock lock;
  private final LinkEnd end;
  private final Supplier<@Nullable Wire> shared;
  private final Scheduler timers;
  private final @Nullable Cluster cluster;

  // guarded by the lock
  private final Map<LockEntry, PendingRelease> kept = new LinkedHashMap<>();
  private boolean tickIsScheduled;

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

  /** Whether none is kept; the lock is held. */
  boolean isEmpty() {
    return kept.isEmpty();
  }

  /** Keeps one that cannot be sent now, unless nothing of it can be there; the lock is held. */
  boolean keep(ScriptCall call) {
    OpenEntry open = call.open();
    if (open != null) {
      keep(new PendingRelease(call, open));
    }
    return open != null;
  }

  private void keep(PendingRelease release) {
    kept.putIfAbsent(release.open().entry(), release);
  }

  /** Gives all that are kept, and keeps them no longer; the lock is held. */
  List<PendingRelease> takeAll() {
    List<PendingRelease> all = new ArrayList<>(kept.values());
    kept.clear();
    return all;
  }

  /** Sends what is kept; the lock is held. */
  void sendPending(Wire current) {
    long nowNanos = System.nanoTime();
    for (PendingRelease release : takeAll()) {
      if (release.open().isLongOver(nowNanos)) {
        release.open().close();
      } else {
        sendAgain(current, release);
      }
    }
  }

  private void sendAgain(Wire current, PendingRelease release) {
    var unused =
        send(current, release)
            .whenComplete(
                (value, error) -> {
                  if (error != null && isMoved(error)) {
                    misplaced(List.of(release));
                  }
                });
  }

  /** Sends one for the first time; the lock is held. */
  CompletableFuture<List<Object>> send(Wire current, ScriptCall call) {
    OpenEntry open = call.open();
    return open == null ? current.send(call) : send(current, new PendingRelease(call, open));
  }

  /** Sends one, and keeps it if its outcome stays open; the lock is held. */
  CompletableFuture<List<Object>> send(Wire current, PendingRelease release) {
    // Whoever learns of a failure, and perhaps closes the node then, finds the release kept.
    return current
        .send(release.call())
        .whenComplete(
            (value, error) -> {
              if (value == null) {
                onFault(
                    current,
                    release,
                    Faults.ofRequest(
                        error == null ? new IllegalStateException("no reply") : error));
              } else {
                onAnswer(current, release, value);
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

  private void onAnswer(Wire current, PendingRelease release, List<Object> value) {
    if (release.open().isGone(isReleased(value), current)) {
      release.open().close();
      forget(release);
      return;
    }
    lock.lock();
    try {
      release.answered(System.nanoTime());
      keepUnlessPointless(release);
    } finally {
      lock.unlock();
    }
  }

  private static boolean isReleased(List<Object> value) {
    try {
      return Replies.release(value) instanceof ReleaseReply.Released;
    } catch (RuntimeException garbage) {
      return false;
    }
  }

  /** The same release may have been kept meanwhile, after an earlier sending that failed. */
  private void forget(PendingRelease release) {
    lock.lock();
    try {
      kept.remove(release.open().entry());
    } finally {
      lock.unlock();
    }
  }

  private void onFault(Wire current, PendingRelease release, NodeFault fault) {
    if (fault.cause() != null && isMoved(fault.cause())) {
      return; // this server has nothing of it, nor will it ever
    }
    lock.lock();
    try {
      long nowNanos = System.nanoTime();
      if (fault.cause() instanceof ServerErrorException) {
        release.answered(nowNanos);
      }
      release.failed(nowNanos, !current.isOpen());
      keepUnlessPointless(release);
    } finally {
      lock.unlock();
    }
  }

  private void keepUnlessPointless(PendingRelease release) {
    if (release.isPointless(System.nanoTime())) {
      release.open().close();
    } else if (!end.isOver()) {
      keep(release);
      if (!end.hasBegun()) {
        scheduleTick();
      }
    }
  }

  private void scheduleTick() {
    if (!tickIsScheduled) {
      tickIsScheduled = true;
      timers.schedule(this::tick, TimeUnit.MILLISECONDS.toNanos(TICK_MILLIS));
    }
  }

  /** Without a connection there is nothing to do: the next one begins with all that is kept. */
  private void tick() {
    lock.lock();
    try {
      tickIsScheduled = false;
      Wire current = shared.get();
      if (current == null) {
        return;
      }
      long nowNanos = System.nanoTime();
      List<PendingRelease> due =
          kept.values().stream().filter(release -> release.isDue(nowNanos)).toList();
      due.forEach(release -> kept.remove(release.open().entry()));
      due.forEach(release -> sendAgain(current, release));
      if (!kept.isEmpty()) {
        scheduleTick();
      }
    } finally {
      lock.unlock();
    }
  }
}
