package dev.lukko.redis.protocol;

import dev.lukko.redis.protocol.RedisAddress.Place;
import dev.lukko.redis.protocol.RedisLink.Cluster;
import dev.lukko.release.KeptReleases;
import dev.lukko.release.OpenEntry;
import dev.lukko.release.PendingRelease;
import dev.lukko.spi.NodeFault;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.time.Scheduler;
import dev.lukko.time.Ticker;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The releases of a link: they are sent, and sent again for as long as their outcome is open. Which
 * and when, {@link KeptReleases} decides.
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
  private final KeptReleases<ScriptCall> kept = new KeptReleases<>(Ticker.system());
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
      kept.keep(kept.pending(call, open));
    }
    return open != null;
  }

  /** Gives all that are kept, and keeps them no longer; the lock is held. */
  List<PendingRelease<ScriptCall>> takeAll() {
    return kept.takeAll();
  }

  /** Sends what is kept; the lock is held. */
  void sendPending(Wire current) {
    kept.takeForNewConnection().forEach(release -> sendAgain(current, release));
  }

  private void sendAgain(Wire current, PendingRelease<ScriptCall> release) {
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
    return open == null ? current.send(call) : send(current, kept.pending(call, open));
  }

  /** Sends one, and keeps it if its outcome stays open; the lock is held. */
  CompletableFuture<List<Object>> send(Wire current, PendingRelease<ScriptCall> release) {
    // Whoever learns of a failure, and perhaps closes the node then, finds the release kept.
    kept.sending(release);
    return current
        .send(release.request())
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
  void misplaced(List<PendingRelease<ScriptCall>> releases) {
    if (cluster != null) {
      releases.forEach(release -> cluster.onMisplaced(release.request()));
    }
  }

  private static boolean isMoved(Throwable error) {
    return Redirect.of(error, NOWHERE) != null;
  }

  private void onAnswer(Wire current, PendingRelease<ScriptCall> release, List<Object> value) {
    lock.lock();
    try {
      if (kept.isOpenAfterAnswer(release, isReleased(value), current)) {
        keepOn(release);
      }
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

  private void onFault(Wire current, PendingRelease<ScriptCall> release, NodeFault fault) {
    if (fault.cause() != null && isMoved(fault.cause())) {
      return; // this server has nothing of it, nor will it ever
    }
    lock.lock();
    try {
      boolean answered = fault.cause() instanceof ServerErrorException;
      if (kept.isOpenAfterFault(release, answered, !current.isOpen())) {
        keepOn(release);
      }
    } finally {
      lock.unlock();
    }
  }

  private void keepOn(PendingRelease<ScriptCall> release) {
    if (!end.isOver()) {
      kept.keep(release);
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
      kept.takeDue().forEach(release -> sendAgain(current, release));
      if (!kept.isEmpty()) {
        scheduleTick();
      }
    } finally {
      lock.unlock();
    }
  }
}
