package dev.lukko.redlock;

import dev.lukko.Lease;
import dev.lukko.LeaseLostException;
import dev.lukko.LockEvent;
import dev.lukko.LossReason;
import dev.lukko.NodeAnswer;
import dev.lukko.ReleaseOutcome;
import dev.lukko.lease.LossSignal;
import dev.lukko.spi.LockEntry;
import dev.lukko.time.Scheduler;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The state of one granted lock: held, then either lost or released, and never back.
 *
 * <p>{@link #isValid} compares clocks and needs no timer to be right; whoever finds the validity
 * ended first makes the loss known. The lock of this object guards transitions only: no I/O, no
 * callback and no wait happens inside it.
 */
final class Hold {
  /** How late the end of the validity may be noticed before it counts as a pause of the process. */
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private static final System.Logger LOG = System.getLogger(Hold.class.getName());

  private enum State {
    HELD,
    LOST,
    RELEASED
  }

  private final Context context;
  private final LockEntry entry;
  private final EntryRelease entryRelease;
  private final long token;
  private final long acquiredNanos;
  private final @Nullable ValidityWindow limit;
  private final Watchdog watchdog;
  private final FlightRecord.Held flight = FlightRecord.held();

  private Acquirer acquiredBy = Acquirer.NOBODY;
  private volatile @Nullable WeakReference<Lease> handle;
  private boolean leakReported;
  private volatile State state = State.HELD;
  private volatile ValidityWindow window;

  /** Whose votes the validity rests on: those that have granted, or extended last. */
  private volatile Electorate basis;

  private @Nullable LossReason lossReason;
  private boolean deniedAtRelease;
  private final LossSignal signal;
  private @Nullable CompletableFuture<ReleaseOutcome> release;
  private @Nullable CompletableFuture<Boolean> lastExtension;
  private final EarlierExtensions earlier = new EarlierExtensions();

  Hold(
      Context context,
      LockEntry entry,
      EntryRelease entryRelease,
      Electorate basis,
      long token,
      long startNanos,
      ValidityWindow window,
      @Nullable ValidityWindow limit,
      long autoExtendTtlNanos) {
    this.context = context;
    this.entry = entry;
    this.entryRelease = entryRelease;
    this.basis = basis;
    this.token = token;
    this.acquiredNanos = startNanos;
    this.limit = limit;
    this.window = limit == null ? window : window.upTo(limit);
    this.watchdog = new Watchdog(context, this, autoExtendTtlNanos);
    this.signal = new LossSignal(context.callbacks);
  }

  /** Starts the timer of the hold, and gives the handle for its holder; called once. */
  Lease begin(Acquirer acquirer) {
    Lease created = new LeaseHandle(context, this);
    handle = new WeakReference<>(created);
    acquiredBy = acquirer;
    flight.begin();
    context.holds.add(this);
    context.waitGraph.holds(acquirer, entry.resources());
    watchdog.arm();
    return created;
  }

  /**
   * Whether nobody can release, use or rely on this hold any more: its handle was collected, and
   * nobody is to hear of its loss. Then it is not extended, ends by its ttl, and is reported, once.
   */
  boolean isLeaked() {
    if (handle == null || handle.get() != null || isEnded() || signal.isAwaited()) {
      return false;
    }
    synchronized (this) {
      if (leakReported) {
        return true;
      }
      leakReported = true;
    }
    Throwable acquiredAt = acquiredBy.trace();
    LOG.log(
        System.Logger.Level.WARNING,
        () ->
            "lease of "
                + entry.resources()
                + " with fencing token "
                + token
                + " was never released and nobody can reach it; it ends by its ttl"
                + (acquiredAt == null ? " (traceLeaks(true) tells where it was acquired)" : ""),
        acquiredAt);
    context.events.emit(
        () -> new LockEvent.Leaked(entry.resources(), token, Optional.ofNullable(acquiredAt)));
    return true;
  }

  LockEntry entry() {
    return entry;
  }

  /** What takes the entry back. */
  EntryRelease entryRelease() {
    return entryRelease;
  }

  long token() {
    return token;
  }

  Electorate basis() {
    return basis;
  }

  // ---- validity

  boolean isValid() {
    if (state != State.HELD) {
      return false;
    }
    long now = context.ticker.nanoTime();
    long wallNow = context.ticker.wallMicros();
    ValidityWindow current = window;
    if (current.isOpen(now, wallNow)) {
      return true;
    }
    expire(current, now);
    return false;
  }

  /** What is left of the validity in nanoseconds; zero or less when it is not valid. */
  long remainingNanos() {
    return isValid()
        ? window.remainingNanos(context.ticker.nanoTime(), context.ticker.wallMicros())
        : 0;
  }

  /** Whether this hold was lost or released. */
  boolean isEnded() {
    return state != State.HELD;
  }

  /** Whether the validity has reached the longest hold time, so that no extension can move it. */
  boolean isAtLimit() {
    return limit != null && window.endNanos() - limit.endNanos() >= 0;
  }

  LeaseLostException notHeld() {
    LossReason reason;
    synchronized (this) {
      reason =
          lossReason != null
              ? lossReason
              : deniedAtRelease ? LossReason.NOT_HELD : LossReason.RELEASED;
    }
    return new LeaseLostException(entry.resources(), token, reason);
  }

  private void expire(ValidityWindow ended, long now) {
    boolean stoodStill = now - ended.endNanos() > PAUSE_NANOS || now - ended.endNanos() < 0;
    lose(
        isAtLimit()
            ? LossReason.MAX_HOLD_REACHED
            : stoodStill ? LossReason.PAUSE_DETECTED : LossReason.EXPIRED,
        ended);
  }

  // ---- loss

  void lose(LossReason reason) {
    lose(reason, null);
  }

  /** Ends the hold, unless its window has moved on since the caller found it ended. */
  private void lose(LossReason reason, @Nullable ValidityWindow seen) {
    synchronized (this) {
      if (state != State.HELD || (seen != null && !seen.equals(window))) {
        return;
      }
      state = State.LOST;
      lossReason = reason;
    }
    try {
      end();
    } finally {
      signal.give(reason);
    }
    FlightRecord.loss(entry.resources(), token, reason);
    context.events.emit(() -> new LockEvent.Lost(entry.resources(), token, reason));
  }

  /** What both ends have in common; harmless when repeated. */
  private void end() {
    watchdog.stop();
    if (context.holds.remove(this)) {
      flight.end(entry.resources(), token);
      context.waitGraph.releases(acquiredBy, entry.resources());
    }
  }

  void onLost(Consumer<? super LossReason> callback) {
    isValid();
    signal.add(callback);
  }

  CompletionStage<LossReason> lost() {
    isValid();
    return signal.stage();
  }

  /**
   * Ends the hold with its client. Its holder hears of it first: what he may still do under the
   * lease must be over before another gets it. So a release waits for the callbacks, and no longer
   * than the lease would have been valid.
   *
   * @return ends when the holder has been told, or the validity is over
   */
  CompletableFuture<Void> endWithClient() {
    long leftNanos = Math.max(0, remainingNanos());
    lose(LossReason.CLIENT_CLOSED);
    CompletableFuture<Void> told = signal.told();
    CompletableFuture<Void> over = new CompletableFuture<>();
    if (leftNanos == 0) {
      over.complete(null);
    } else if (!told.isDone()) {
      Scheduler.Timer timer = context.scheduler.schedule(() -> over.complete(null), leftNanos);
      over.whenComplete((done, none) -> timer.cancel());
    }
    told.whenComplete((done, none) -> over.complete(null));
    return context.settings.releaseOnClose() ? over.thenRun(this::release) : over;
  }

  // ---- extension

  /**
   * One extension under way.
   *
   * @param startNanos when it was sent, on the monotonic clock
   * @param wallStartMicros when it was sent, on the wall clock
   * @param ttlNanos what was asked for
   * @param again whether it was sent before, and nodes have told then that they have changed
   * @param result what the caller waits for
   */
  record Extension(
      long startNanos,
      long wallStartMicros,
      long ttlNanos,
      boolean again,
      CompletableFuture<Boolean> result) {}

  /** Extends after any extension that is under way: nodes see them in one order. */
  CompletableFuture<Boolean> extend(long ttlNanos) {
    CompletableFuture<Boolean> result = new CompletableFuture<>();
    CompletableFuture<Boolean> before;
    synchronized (this) {
      before = lastExtension;
      lastExtension = result;
    }
    if (before == null || before.isDone()) {
      sendExtension(ttlNanos, false, result);
    } else {
      before.whenComplete((extended, failure) -> sendExtension(ttlNanos, false, result));
    }
    return result;
  }

  private void sendExtension(long ttlNanos, boolean again, CompletableFuture<Boolean> result) {
    long start = context.ticker.nanoTime();
    long wallStart = context.ticker.wallMicros();
    if (!isValid()) {
      result.completeExceptionally(notHeld());
      return;
    }
    ValidityWindow shortened = window.upTo(context.window(start, wallStart, ttlNanos));
    if (!shortened.equals(window)) {
      // A shorter ttl takes effect at a node even if its answer is lost: count on it from now on.
      synchronized (this) {
        window = shortened;
      }
      watchdog.arm();
    }
    Extension extension = new Extension(start, wallStart, ttlNanos, again, result);
    ExtendRound round =
        new ExtendRound(
            context,
            context.admission.electorate(),
            context.nodeTimeoutNanos(ttlNanos),
            this,
            TimeUnit.NANOSECONDS.toMillis(ttlNanos),
            extension);
    synchronized (this) {
      earlier.add(round);
    }
    round.start(context.scheduler);
    context.decides(round, result);
  }

  void onExtensionDecided(ExtendRound round, Tally tally, Extension extension) {
    if (tally.anyFault() && round.mustLookAgain()) {
      CompletableFuture<Void> review = context.admission.review();
      if (!tally.won() && !extension.again() && round.definiteLoss() == null && isValid()) {
        review.thenRun(() -> sendExtension(extension.ttlNanos(), true, extension.result()));
        return;
      }
    }
    if (tally.won()) {
      if (moveWindow(extension, round)) {
        watchdog.arm();
        round.repairMissing();
        context.events.emit(
            () ->
                new LockEvent.Extended(
                    entry.resources(), token, Duration.ofNanos(remainingNanos())));
        extension.result().complete(true);
      } else {
        extension.result().completeExceptionally(notHeld());
      }
      return;
    }
    onLateDenial(round);
    if (tally.ofPresentSet().won() && !extension.again() && isValid()) {
      // Nodes that are to come lack the entry: a majority of the present ones says that it stands.
      CompletableFuture<Void> repaired = round.repairMissing();
      Scheduler.Timer timer =
          context.scheduler.schedule(
              () -> repaired.complete(null), context.nodeTimeoutNanos(extension.ttlNanos()));
      repaired.thenRun(
          () -> {
            timer.cancel();
            sendExtension(extension.ttlNanos(), true, extension.result());
          });
      return;
    }
    if (isValid()) {
      List<NodeAnswer> answers = Answers.of(round.nodes(), round.repliesInTime());
      context.events.emit(
          () ->
              new LockEvent.ExtensionFailed(
                  entry.resources(), token, Duration.ofNanos(remainingNanos()), answers));
      extension.result().complete(false);
    } else {
      extension.result().completeExceptionally(notHeld());
    }
  }

  /** Ends the hold if so many nodes have denied it by now that no quorum can be had. */
  void onLateDenial(ExtendRound round) {
    LossReason reason = round.definiteLoss();
    if (reason != null) {
      lose(reason);
    }
  }

  private boolean moveWindow(Extension extension, ExtendRound round) {
    if (!isValid()) {
      return false; // It ended while the answers were on their way; a lost lease is never revived.
    }
    synchronized (this) {
      if (state != State.HELD) {
        return false;
      }
      long keptNanos = Math.min(extension.ttlNanos(), earlier.boundNanos(round));
      ValidityWindow moved =
          context.window(extension.startNanos(), extension.wallStartMicros(), keptNanos);
      window = limit == null ? moved : moved.upTo(limit);
      basis = round.electorate();
    }
    return isValid();
  }

  // ---- release

  /** Ends the hold for a caller that goes on. */
  CompletableFuture<ReleaseOutcome> release() {
    return release(false);
  }

  /** Ends the hold for a caller that waits; its only node may use this thread. */
  CompletableFuture<ReleaseOutcome> releaseInCaller() {
    return release(true);
  }

  private CompletableFuture<ReleaseOutcome> release(boolean inCaller) {
    isValid(); // An expired hold is lost before it is released.
    CompletableFuture<ReleaseOutcome> outcome = new CompletableFuture<>();
    boolean live;
    synchronized (this) {
      if (release != null) {
        return release;
      }
      release = outcome;
      entryRelease.begin();
      live = state == State.HELD;
      if (live) {
        state = State.RELEASED;
        signal.release();
      }
    }
    end();
    if (live) {
      long timeoutNanos = context.nodeTimeoutNanos(watchdog.ttlNanos());
      ReleaseRound round =
          new ReleaseRound(
              context.nodes,
              basis,
              timeoutNanos,
              entryRelease,
              (decided, ended) -> onReleased(ended, decided.watchers(), outcome),
              outcome::completeExceptionally,
              inCaller ? Patience.ofCaller(context, timeoutNanos) : null);
      round.start(context.scheduler);
      context.decides(round, outcome);
    } else {
      entryRelease.sendToAll();
      onReleased(
          new ReleaseOutcome(
              ReleaseOutcome.Status.NOT_HELD,
              Answers.of(context.nodes, Collections.nCopies(context.nodes.size(), null))),
          0,
          outcome);
    }
    return outcome;
  }

  private void onReleased(
      ReleaseOutcome ended, int watchers, CompletableFuture<ReleaseOutcome> outcome) {
    synchronized (this) {
      deniedAtRelease = ended.status() == ReleaseOutcome.Status.NOT_HELD;
    }
    if (ended.status() == ReleaseOutcome.Status.UNKNOWN) {
      LOG.log(
          System.Logger.Level.WARNING,
          () -> "release of " + entry.resources() + " is uncertain: " + ended.describe());
    }
    Duration held = Duration.ofNanos(context.ticker.nanoTime() - acquiredNanos);
    context.events.emit(() -> new LockEvent.Released(entry.resources(), token, held, ended));
    context.waitRoom.releasedHere(entry.resources(), watchers);
    outcome.complete(ended);
  }
}
