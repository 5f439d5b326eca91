package dev.lukko.redis.protocol;

import dev.lukko.spi.LockEntry;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * The entries that one node's server may hold for its client: each from the moment in which its
 * grant is handed over until it is certain that nothing of it is there or can still come.
 *
 * <p>Bounded by what can have been sent: what the server has refused, or was never sent, is
 * forgotten at once, what was released with the answer to the release, and a lease that nobody
 * releases when its ttl is long over. Thread-safe.
 */
final class OpenEntries {
  private static final int FIRST_PURGE = 1_000;

  private final ConcurrentMap<LockEntry, OpenEntry> open = new ConcurrentHashMap<>();
  private volatile int purgeAt = FIRST_PURGE;

  /** A grant is about to be handed over. */
  OpenEntry granting(LockEntry entry, ScriptCall grant, long ttlMillis) {
    OpenEntry opened = new OpenEntry(this, entry, grant);
    opened.livesFor(ttlMillis);
    open.put(entry, opened);
    if (open.size() >= purgeAt) {
      purge();
    }
    return opened;
  }

  /** The server does not have an entry, perhaps one that was never granted here. */
  void missing(LockEntry entry, long ttlMillis) {
    opened(entry).livesFor(ttlMillis);
  }

  /** What is known of an entry, from now on if nothing was. */
  OpenEntry opened(LockEntry entry) {
    return open.computeIfAbsent(entry, unknown -> new OpenEntry(this, unknown, null));
  }

  /** What is known of an entry; null if nothing of it can be there. */
  @Nullable OpenEntry get(LockEntry entry) {
    return open.get(entry);
  }

  void remove(LockEntry entry, OpenEntry closed) {
    open.remove(entry, closed);
  }

  int size() {
    return open.size();
  }

  private void purge() {
    long nowNanos = System.nanoTime();
    open.values().removeIf(entry -> entry.isLongOver(nowNanos));
    purgeAt = Math.max(FIRST_PURGE, 2 * open.size());
  }
}
