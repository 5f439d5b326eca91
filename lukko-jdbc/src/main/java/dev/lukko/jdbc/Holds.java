package dev.lukko.jdbc;

import dev.lukko.spi.LockEntry;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.time.Ticker;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Until when an entry of ours may be at the server, and whether more may come.
 *
 * <p>A grant that was not answered can be applied long after a release that was sent behind it: the
 * release goes over another connection once that of the grant is broken, and a server that wakes up
 * serves both in any order. Such an owner is in doubt, and one "not held" settles nothing.
 */
final class Holds {
  private static final int CLEAN_EVERY = 1_024;

  private final Ticker ticker;
  private final long graceNanos;
  private final ConcurrentMap<String, Hold> holds = new ConcurrentHashMap<>();
  private final AtomicInteger asked = new AtomicInteger();

  /**
   * Holds.
   *
   * @param graceNanos how long after it was sent a request may be applied, beyond its ttl
   */
  Holds(Ticker ticker, long graceNanos) {
    this.ticker = ticker;
    this.graceNanos = graceNanos;
  }

  private record Hold(long untilNanos, int doubts) {}

  /** A request that lets the entry live is about to be sent. */
  void asked(LockEntry entry, long ttlMillis) {
    long now = ticker.nanoTime();
    long until = now + Math.min(ttlMillis, Verbs.MAX_TTL_MILLIS) * 1_000_000L + graceNanos;
    holds.merge(
        entry.owner(),
        new Hold(until, 0),
        (before, added) ->
            new Hold(
                before.untilNanos() - until > 0 ? before.untilNanos() : until, before.doubts()));
    if (asked.incrementAndGet() % CLEAN_EVERY == 0) {
      holds.values().removeIf(hold -> hold.untilNanos() - now <= 0);
    }
  }

  /** A request that may create the entry was not answered. */
  void doubt(LockEntry entry) {
    holds.computeIfPresent(
        entry.owner(), (owner, hold) -> new Hold(hold.untilNanos(), hold.doubts() + 1));
  }

  /** The server has refused the entry. */
  void refused(LockEntry entry) {
    holds.computeIfPresent(entry.owner(), (owner, hold) -> hold.doubts() == 0 ? null : hold);
  }

  /** Whether the answer to a release is the last word. */
  boolean isSettledBy(LockEntry entry, ReleaseReply reply) {
    Hold left =
        holds.computeIfPresent(
            entry.owner(),
            (owner, hold) -> {
              int doubts = hold.doubts() - (reply instanceof ReleaseReply.Released ? 1 : 0);
              return doubts <= 0 ? null : new Hold(hold.untilNanos(), doubts);
            });
    return left == null;
  }

  /** Until when a release has to be tried again. */
  long until(LockEntry entry, long otherwiseNanos) {
    Hold hold = holds.get(entry.owner());
    return hold == null ? ticker.nanoTime() + otherwiseNanos : hold.untilNanos();
  }

  void forget(LockEntry entry) {
    holds.remove(entry.owner());
  }

  int size() {
    return holds.size();
  }
}
