package dev.lukko.postgres;

import dev.lukko.Holder;
import dev.lukko.LossReason;
import dev.lukko.ReleaseOutcome;
import dev.lukko.lease.LossSignal;
import dev.lukko.spi.OwnerValue;
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
  private static final long INSTANT_NANOS = 200_000;

  private final List<LockKey> keys;
  private final boolean shared;
  private final boolean contended;
  private final Identity identity;
  private final long token;
  private final Proof granted;
  private final long maxHoldNanos;
  private final Ticker ticker;
  private final AdvisorySession session;

  private final AtomicReference<@Nullable LossReason> ended = new AtomicReference<>();
  private final LossSignal signal;
  private final CompletableFuture<ReleaseOutcome> outcome = new CompletableFuture<>();
  private volatile Proof proof;
  private volatile long ttlNanos;
  private volatile boolean published;
  private volatile boolean forgotten;

  @SuppressWarnings("UnusedVariable") // It is there to be reachable for as long as this is.
  private @Nullable Object handle;

  /**
   * What a hold is made of.
   *
   * @param keys what is locked, sorted by number
   * @param shared whether it is a reader's hold
   * @param contended whether it had to be waited for
   * @param identity who holds it
   * @param ttlNanos how long the session may stay silent
   * @param maxHoldNanos how long it may be held at all
   */
  record Terms(
      List<LockKey> keys,
      boolean shared,
      boolean contended,
      Identity identity,
      long ttlNanos,
      long maxHoldNanos) {}

  /**
   * Who holds, for people. The session proves the ownership, so the texts are only made when
   * somebody asks for them.
   */
  static final class Identity {
    private final Instant since;
    private final String client;
    private final String thread;
    private final String metadata;
    private @Nullable String owner;

    Identity(Instant since, String client, String thread, String metadata) {
      this.since = since;
      this.client = client;
      this.thread = thread;
      this.metadata = metadata;
    }

    Instant since() {
      return since;
    }

    String description() {
      return client + "/" + thread + (metadata.isEmpty() ? "" : " " + metadata);
    }

    Holder toHolder() {
      return new Holder(description(), Optional.of(since), Optional.empty());
    }

    synchronized String owner() {
      String made = owner;
      if (made == null) {
        made = OwnerValue.create(since, description());
        owner = made;
      }
      return made;
    }
  }

  Hold(
      Terms terms,
      long token,
      Proof granted,
      AdvisorySession session,
      Ticker ticker,
      LossSignal signal) {
    this.signal = signal;
    this.keys = terms.keys();
    this.shared = terms.shared();
    this.contended = terms.contended();
    this.identity = terms.identity();
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

  Identity identity() {
    return identity;
  }

  long token() {
    return token;
  }

  AdvisorySession session() {
    return session;
  }

  /**
   * Whether it is worth a question whether anybody waits. Not after a hold of an instant that was
   * had at once: who finds a lock held shows that and tries once more before it waits, and that
   * takes two round trips, in which an instant is over. Should one be quicker, it polls; and who
   * had to wait asks for the next.
   */
  boolean maybeAwaited() {
    return contended || heldNanos() > INSTANT_NANOS;
  }

  long ttlNanos() {
    return ttlNanos;
  }

  long heldNanos() {
    return ticker.nanoTime() - granted.nanos();
  }

  /** What tells the holder of a loss. */
  LossSignal signal() {
    return signal;
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
    if (newer.nanos() - proof.nanos() > 0 && !forgotten) {
      proof = newer;
    }
    return true;
  }

  /** Nobody can release it any more: from now on it is not renewed, unless a loss is awaited. */
  boolean forget() {
    forgotten = isHeld() && !signal.isAwaited();
    return forgotten;
  }

  void allowSilence(long nanos) {
    ttlNanos = nanos;
  }

  /** Ends the hold for this reason; true for exactly one caller. */
  boolean end(LossReason reason) {
    if (!ended.compareAndSet(null, reason)) {
      return false;
    }
    if (reason == LossReason.RELEASED) {
      signal.release();
    }
    return true;
  }
}
