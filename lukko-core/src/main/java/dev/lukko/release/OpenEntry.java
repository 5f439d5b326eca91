package dev.lukko.release;

import dev.lukko.spi.LockEntry;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * An entry that a server may hold, with the requests that create it. Thread-safe.
 *
 * <p>A request whose reply never came may still be applied at any later time, though its connection
 * has ended: a server that was stopped runs what is in its buffers, in an order of its own where
 * connections differ. Only an answer on the same connection, behind it, tells that it has been.
 */
public final class OpenEntry {
  private final OpenEntries all;
  private final LockEntry entry;
  private final @Nullable CreatingRequest grant;
  private final List<CreatingRequest> repairs = new CopyOnWriteArrayList<>();
  private volatile boolean repaired;
  private volatile long ttlNanos;
  private volatile long touchedNanos;

  OpenEntry(OpenEntries all, LockEntry entry, @Nullable CreatingRequest grant) {
    this.all = all;
    this.entry = entry;
    this.grant = grant;
    this.touchedNanos = all.nanoTime();
  }

  LockEntry entry() {
    return entry;
  }

  void repairing(CreatingRequest request) {
    repairs.removeIf(CreatingRequest::isAnswered);
    repairs.add(request);
    repaired = true;
  }

  /** It was, or may have been, given this time to live. */
  void livesFor(long ttlMillis) {
    ttlNanos = Math.max(ttlNanos, TimeUnit.MILLISECONDS.toNanos(ttlMillis));
    touchedNanos = all.nanoTime();
  }

  /** How long it lives from the moment in which it is created or extended. */
  long ttlNanos() {
    return ttlNanos;
  }

  /** Nothing of it is sent another time from now on. */
  void withdraw() {
    if (grant != null) {
      grant.withdraw();
    }
    repairs.forEach(CreatingRequest::withdraw);
  }

  /**
   * Whether nothing of it is there or can still come, after the reply to a release.
   *
   * @param released whether the release has found and deleted it
   * @param connection the connection that the reply came on
   */
  boolean isGone(boolean released, Object connection) {
    if (released && !repaired) {
      return true; // the grant was applied, and is sent once
    }
    boolean grantMayFollow = grant != null && grant.mayFollow(connection);
    return !grantMayFollow && repairs.stream().noneMatch(repair -> repair.mayFollow(connection));
  }

  /** The server holds nothing of it, nor will it ever. */
  public void close() {
    all.remove(entry, this);
  }

  /** Whether it is a lease that ended by its ttl, and that nobody has released. */
  boolean isLongOver(long nowNanos) {
    boolean answered =
        (grant == null || grant.isAnswered())
            && repairs.stream().allMatch(CreatingRequest::isAnswered);
    return answered && nowNanos - touchedNanos > 2 * ttlNanos;
  }
}
