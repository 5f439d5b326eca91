package dev.lukko.redis.protocol;

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
final class OpenEntry {
  private final OpenEntries all;
  private final LockEntry entry;
  private final @Nullable ScriptCall grant;
  private final List<ScriptCall> repairs = new CopyOnWriteArrayList<>();
  private volatile boolean repaired;
  private volatile long ttlNanos;
  private volatile long touchedNanos = System.nanoTime();

  OpenEntry(OpenEntries all, LockEntry entry, @Nullable ScriptCall grant) {
    this.all = all;
    this.entry = entry;
    this.grant = grant;
  }

  LockEntry entry() {
    return entry;
  }

  void repairing(ScriptCall call) {
    repairs.removeIf(ScriptCall::isAnswered);
    repairs.add(call);
    repaired = true;
  }

  /** It was, or may have been, given this time to live. */
  void livesFor(long ttlMillis) {
    ttlNanos = Math.max(ttlNanos, TimeUnit.MILLISECONDS.toNanos(ttlMillis));
    touchedNanos = System.nanoTime();
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
    repairs.forEach(ScriptCall::withdraw);
  }

  /**
   * Whether nothing of it is there or can still come, after the reply to a release.
   *
   * @param released whether the release has found and deleted it
   * @param wire the connection that the reply came on
   */
  boolean isGone(boolean released, Wire wire) {
    if (released && !repaired) {
      return true; // the grant was applied, and is sent once
    }
    boolean grantMayFollow = grant != null && grant.mayFollow(wire);
    return !grantMayFollow && repairs.stream().noneMatch(repair -> repair.mayFollow(wire));
  }

  /** The server holds nothing of it, nor will it ever. */
  void close() {
    all.remove(entry, this);
  }

  /** Whether it is a lease that ended by its ttl, and that nobody has released. */
  boolean isLongOver(long nowNanos) {
    boolean answered =
        (grant == null || grant.isAnswered()) && repairs.stream().allMatch(ScriptCall::isAnswered);
    return answered && nowNanos - touchedNanos > 2 * ttlNanos;
  }
}
