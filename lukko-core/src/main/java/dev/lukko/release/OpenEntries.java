package dev.lukko.release;

import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.Unknown;
import dev.lukko.time.Ticker;
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
public final class OpenEntries {
  private static final int FIRST_PURGE = 1_000;

  private final Ticker ticker;
  private final ConcurrentMap<LockEntry, OpenEntry> open = new ConcurrentHashMap<>();
  private volatile int purgeAt = FIRST_PURGE;

  /** No entry yet. */
  public OpenEntries(Ticker ticker) {
    this.ticker = ticker;
  }

  long nanoTime() {
    return ticker.nanoTime();
  }

  /** A grant is about to be handed over. */
  public OpenEntry granting(LockEntry entry, CreatingRequest grant, long ttlMillis) {
    OpenEntry opened = new OpenEntry(this, entry, grant);
    opened.livesFor(ttlMillis);
    open.put(entry, opened);
    if (open.size() >= purgeAt) {
      purge();
    }
    return opened;
  }

  /** A grant has ended: what was refused, or certainly not sent, is not at the server. */
  public void granted(OpenEntry opened, GrantReply reply, long ttlMillis) {
    if (reply instanceof GrantReply.Granted) {
      opened.livesFor(ttlMillis);
    } else if (!(reply instanceof Unknown)) {
      opened.close();
    }
  }

  /** An extension has ended; the entry is perhaps one that was never granted here. */
  public void extended(LockEntry entry, ExtendReply reply, long ttlMillis) {
    OpenEntry opened = reply instanceof ExtendReply.Missing ? opened(entry) : open.get(entry);
    if (opened != null) {
      opened.livesFor(ttlMillis);
    }
  }

  /** A repair is about to be handed over. */
  public OpenEntry repairing(LockEntry entry, CreatingRequest repair, long ttlMillis) {
    OpenEntry opened = opened(entry);
    opened.repairing(repair);
    opened.livesFor(ttlMillis);
    return opened;
  }

  /** A repair has been answered. */
  public void repaired(OpenEntry opened, long ttlMillis) {
    opened.livesFor(ttlMillis);
  }

  /**
   * A release is about to be handed over: what waits to be sent another time must not follow it.
   *
   * @return what it is about; null if nothing of it can be at the server
   */
  public @Nullable OpenEntry releasing(LockEntry entry) {
    OpenEntry opened = open.get(entry);
    if (opened != null) {
      opened.withdraw();
    }
    return opened;
  }

  private OpenEntry opened(LockEntry entry) {
    return open.computeIfAbsent(entry, unknown -> new OpenEntry(this, unknown, null));
  }

  void remove(LockEntry entry, OpenEntry closed) {
    open.remove(entry, closed);
  }

  /** How many there are. */
  public int size() {
    return open.size();
  }

  private void purge() {
    long nowNanos = ticker.nanoTime();
    open.values().removeIf(entry -> entry.isLongOver(nowNanos));
    purgeAt = Math.max(FIRST_PURGE, 2 * open.size());
  }
}
