package dev.lukko.postgres;

import dev.lukko.Holder;
import dev.lukko.LossReason;
import dev.lukko.ReleaseOutcome;
import dev.lukko.time.Ticker;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The state of one lease: held, then either released or lost, and never held again.
 *
 * <p>Valid means: held, and the session was seen alive less than a ttl ago, by both clocks.
 */
final class Hold {
  private final List<LockKey> keys;
  private final boolean shared;
  private final String owner;
  private final Holder holder;
  private final long token;
  private final Proof granted;
  private final long maxHoldNanos;
  private final Ticker ticker;
  private final AdvisorySession session;

  private final AtomicReference<@Nullable LossReason> ended = new AtomicReference<>();
  private final CompletableFuture<LossReason> lost = new CompletableFuture<>();
  private final CompletableFuture<ReleaseOutcome> outcome = new CompletableFuture<>();
  private volatile Proof proof;
  private volatile long ttlNanos;
  private volatile boolean published;

  @SuppressWarnings("UnusedVariable") // It is there to be reachable for as long as this is.
  private @Nullable Object handle;

  /**
   * What a hold is made of.
   *
   * @param keys what is locked, sorted by number
   * @param shared whether it is a reader's hold
   * @param owner the owner value
   * @param holder what may be shown of it
   * @param ttlNanos how long the session may stay silent
   * @param maxHoldNanos how long it may be held at all
   */
  record Terms(
      List<LockKey> keys,
      boolean shared,
      String owner,
      Holder holder,
      long ttlNanos,
      long maxHoldNanos) {}

  Hold(Terms terms, long token, Proof granted, AdvisorySession session, Ticker ticker) {
    this.keys = terms.keys();
    this.shared = terms.shared();
    this.owner = terms.owner();
    this.holder = terms.holder();
    this.ttlNanos = terms.ttlNanos();
    this.maxHoldNanos = terms.maxHoldNanos();
    this.token = token;
    this.granted = granted;
    this.proof = granted;
    this.session = session;
    this.ticker = ticker;
  }

  List<LockKey> keys() {
    return keys;
  }

  boolean shared() {
    return shared;
  }

  String owner() {
    return owner;
  }

  Holder holder() {
    return holder;
  }

  Instant since() {
    return holder.since().orElse(Instant.EPOCH);
  }

  long token() {
    return token;
  }

  AdvisorySession session() {
    return session;
  }

  long ttlNanos() {
    return ttlNanos;
  }

  long heldNanos() {
    return ticker.nanoTime() - granted.nanos();
  }

  CompletableFuture<LossReason> lost() {
    return lost;
  }

  CompletableFuture<ReleaseOutcome> outcome() {
    return outcome;
  }

  boolean published() {
    return published;
  }

  void markPublished() {
    published = true;
  }

  /** Why it is not held any more, if so. */
  Optional<LossReason> end() {
    return Optional.ofNullable(ended.get());
  }

  /** Keeps the reference by which a forgotten handle is noticed. */
  void tie(Object handle) {
    this.handle = handle;
  }

  boolean isHeld() {
    return ended.get() == null;
  }

  /** Nanoseconds of validity by the clocks alone; zero or less when it is over. */
  long remainingNanos() {
    return Math.min(silenceLeftNanos(), maxHoldLeftNanos());
  }

  long maxHoldLeftNanos() {
    return maxHoldNanos == Long.MAX_VALUE
        ? Long.MAX_VALUE
        : granted.remainingNanos(maxHoldNanos, ticker);
  }

  private long silenceLeftNanos() {
    return proof.remainingNanos(ttlNanos, ticker);
  }

  /**
   * Takes a newer proof of life. Only while the older one is still good: a lease that was seen
   * invalid by anybody stays so.
   */
  boolean renew(Proof newer) {
    if (!isHeld() || remainingNanos() <= 0) {
      return false;
    }
    if (newer.nanos() - proof.nanos() > 0) {
      proof = newer;
    }
    return true;
  }

  void allowSilence(long nanos) {
    ttlNanos = nanos;
  }

  /** Ends the hold for this reason; true for exactly one caller. */
  boolean end(LossReason reason) {
    return ended.compareAndSet(null, reason);
  }
}
