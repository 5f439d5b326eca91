package dev.lukko.postgres;

import dev.lukko.ClientClosedException;
import dev.lukko.Holder;
import dev.lukko.Lease;
import dev.lukko.LockBusyException;
import dev.lukko.LockEvent;
import dev.lukko.LockException;
import dev.lukko.LockInterruptedException;
import dev.lukko.LockNotAcquiredException;
import dev.lukko.LockRequest;
import dev.lukko.NodeAnswer;
import dev.lukko.QuorumUnavailableException;
import dev.lukko.ValidityExhaustedException;
import dev.lukko.lease.LossSignal;
import dev.lukko.time.Callbacks;
import dev.lukko.time.Scheduler;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * One acquisition from its first round to its end: the only place that knows retries, the wait
 * budget and clean-up.
 *
 * <p>A round is one statement. Between rounds no thread, no statement and no snapshot is held; the
 * attempt is an entry in {@link Waiters} and a timer. The first round runs in the caller's thread,
 * so that a free lock costs no change of threads; later ones run in callback threads.
 */
final class Attempt {
  /** How often a waiter that only ever finds the lock held looks whether by the same name. */
  private static final int ROUNDS_PER_LOOK = 20;

  private final Context context;
  private final LockRequest request;
  private final List<LockKey> keys;
  private final long budgetNanos;
  private final long startNanos;
  private final CompletableFuture<Lease> future = new CompletableFuture<>();

  private enum State {
    RUNNING,
    WAITING,
    DONE
  }

  private State state = State.RUNNING; // These three are guarded by this object's monitor.
  private boolean wokenWhileRunning;
  private Scheduler.@Nullable Timer timer;

  private int rounds; // From here on only touched by the one thread that runs a round.
  private boolean retriedStaleSession;
  private @Nullable LockKey waitsFor;
  private @Nullable AdvisorySession registeredWith;
  private @Nullable Holder holder;

  Attempt(Context context, LockRequest request, List<LockKey> keys, Duration budget) {
    this.context = context;
    this.request = request;
    this.keys = keys;
    this.budgetNanos = Scheduler.toNanosSaturated(budget);
    this.startNanos = context.ticker().nanoTime();
  }

  Lease await() {
    step();
    try {
      return future.get();
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      LockInterruptedException interrupted =
          new LockInterruptedException(attempt(false, List.of()));
      if (future.completeExceptionally(interrupted)) {
        abandon();
        throw interrupted;
      }
      return future.join();
    } catch (ExecutionException failed) {
      if (failed.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw new LockException("lock " + request.resources() + " failed", failed.getCause());
    }
  }

  CompletableFuture<Lease> begin() {
    future.whenComplete(
        (lease, failure) -> {
          if (future.isCancelled()) {
            abandon();
          }
        });
    context.scheduler().execute(this::step);
    if (context.isClosed()) {
      fail(closed()); // A scheduler that was given, and is closed, may have dropped the step.
    }
    return Callbacks.handOut(future, context.callbacks(), Lease::releaseAsync);
  }

  /** Tries again now instead of later. */
  void wake() {
    synchronized (this) {
      if (!resume()) {
        wokenWhileRunning = true;
        return;
      }
    }
    context.scheduler().execute(this::step);
  }

  void fail(LockException failure) {
    if (future.completeExceptionally(failure)) {
      abandon();
    }
  }

  private void step() {
    try {
      long wait = round();
      while (wait >= 0 && !pause(wait)) {
        wait = round();
      }
      if (wait < 0) {
        end();
      }
    } catch (Throwable failure) { // Also an error of the driver's: somebody waits for the end.
      future.completeExceptionally(failure);
      end();
    }
  }

  /** Makes a round; gives the nanoseconds until the next, or -1 at the end. */
  private long round() {
    if (future.isDone()) {
      return -1;
    }
    if (context.isClosed()) {
      throw closed();
    }
    rounds++;
    @Nullable AdvisorySession session = null;
    try {
      session = context.session();
      AdvisorySession current = session;
      Hold.Terms terms = context.terms(request, keys, waitsFor != null);
      Hold[] granted = new Hold[1];
      AdvisorySession.Answer answer =
          session.tryLock(
              keys,
              request.shared(),
              (token, proof) ->
                  granted[0] =
                      new Hold(
                          terms,
                          token,
                          proof,
                          current,
                          context.ticker(),
                          new LossSignal(context.callbacks())));
      if (granted[0] != null) {
        return finish(granted[0]);
      }
      return busy(session, answer);
    } catch (SQLException failure) {
      return unreachable(session, failure);
    }
  }

  ClientClosedException closed() {
    return new ClientClosedException(
        "the client was closed; lock " + request.resources() + " was not acquired");
  }

  private long finish(Hold hold) {
    Lease lease = context.holds().begin(hold, request.resources());
    long left = hold.remainingNanos();
    if (left <= 0) {
      lease.release();
      throw new ValidityExhaustedException(
          attempt(false, answer(NodeAnswer.Kind.GRANTED, "", null)),
          Duration.ofNanos(hold.heldNanos()),
          Duration.ZERO,
          request.ttl(),
          Duration.ZERO);
    }
    if (context.events().isHeard()) {
      context
          .events()
          .emit(
              () ->
                  new LockEvent.Acquired(
                      request.resources(), hold.token(), waited(), rounds, Duration.ofNanos(left)));
    }
    if (!future.complete(lease)) {
      lease.release();
    }
    return -1;
  }

  private long busy(AdvisorySession session, AdvisorySession.Answer answer) throws SQLException {
    boolean last = elapsedNanos() >= budgetNanos;
    LockKey key;
    if (answer instanceof AdvisorySession.Answer.HeldHere here) {
      key = here.key();
      lookAt(key, here.holder());
    } else {
      key = ((AdvisorySession.Answer.Held) answer).key();
      if (last || rounds % ROUNDS_PER_LOOK == 1) {
        session.holderOf(key).ifPresent(row -> lookAt(key, row));
      }
    }
    if (rounds == 1 && context.events().isHeard()) {
      context
          .events()
          .emit(() -> new LockEvent.Contended(request.resources(), Optional.ofNullable(holder)));
    }
    if (last) {
      throw new LockBusyException(
          attempt(
              budgetNanos > 0,
              answer(NodeAnswer.Kind.HELD, holder == null ? "" : holder.toString(), null)),
          holder);
    }
    boolean registered = register(key, answer instanceof AdvisorySession.Answer.Held, session);
    return registered ? 0 : nextDelay();
  }

  private void lookAt(LockKey key, Hold other) {
    for (LockKey held : other.keys()) {
      if (held.lock() == key.lock() && !held.equals(key)) {
        throw new LockNameCollisionException(key.qualified(), held.qualified(), key.lock());
      }
    }
    holder = other.identity().toHolder();
  }

  private void lookAt(LockKey key, HolderRow row) {
    if (row.collidesWith(key)) {
      throw new LockNameCollisionException(
          key.qualified(), row.namespace() + "/" + row.name(), key.lock());
    }
    holder = row.toHolder();
  }

  /** True if it was not registered there before: then a release may have been missed. */
  private boolean register(LockKey key, boolean heldElsewhere, AdvisorySession session)
      throws SQLException {
    boolean fresh = false;
    if (!key.equals(waitsFor)) {
      unregister();
      waitsFor = key;
      context.waiters().add(key, this);
      fresh = true;
    }
    if (heldElsewhere && registeredWith != session) {
      session.startWaiting(key);
      registeredWith = session;
      fresh = true;
    }
    if (heldElsewhere) {
      context.listenForReleases();
    }
    return fresh;
  }

  private void unregister() {
    LockKey key = waitsFor;
    if (key == null) {
      return;
    }
    waitsFor = null;
    context.waiters().remove(key, this);
    context.waiters().wake(key.lock()); // The wake-up may have been meant for the next one too.
    AdvisorySession session = registeredWith;
    registeredWith = null;
    if (session != null && !session.isEnded()) {
      context
          .scheduler()
          .execute(
              () -> {
                try {
                  session.stopWaiting(key);
                } catch (SQLException gone) {
                  // With the session goes the mark.
                  System.getLogger(Attempt.class.getName())
                      .log(System.Logger.Level.DEBUG, "a wait mark was not taken back", gone);
                }
              });
    }
  }

  private long unreachable(@Nullable AdvisorySession session, SQLException failure) {
    if (LockTableFull.isCauseOf(failure)) {
      throw LockTableFull.exception(request.resources(), failure);
    }
    if (session != null && session.isEnded() && !retriedStaleSession) {
      // The session had died while nobody used it; a fresh one tells whether the server is there.
      retriedStaleSession = true;
      return 0;
    }
    if (request.waitForQuorum() && elapsedNanos() < budgetNanos) {
      return nextDelay();
    }
    boolean unknown = session != null && session.isEnded();
    throw new QuorumUnavailableException(
        attempt(
            request.waitForQuorum(),
            answer(
                unknown ? NodeAnswer.Kind.UNKNOWN : NodeAnswer.Kind.FAILED,
                String.valueOf(failure.getMessage()),
                failure)),
        1);
  }

  private long nextDelay() {
    return Math.max(0, Math.min(context.retryDelayNanos(), budgetNanos - elapsedNanos()));
  }

  /** Arranges for the next round later; false if it is due now. */
  private boolean pause(long nanos) {
    context.waiters().pending().add(this);
    synchronized (this) {
      if (nanos == 0 || wokenWhileRunning) {
        wokenWhileRunning = false;
        return false;
      }
      state = State.WAITING;
      timer = context.scheduler().schedule(this::wake, nanos);
    }
    // Cancelled or closed in between: nobody saw this attempt waiting, so it looks itself.
    return !((future.isDone() || context.isClosed()) && resume());
  }

  private synchronized boolean resume() {
    if (state != State.WAITING) {
      return false;
    }
    stopTimer();
    state = State.RUNNING;
    return true;
  }

  /** The future ended without us: if a round is running it cleans up, otherwise this does. */
  private void abandon() {
    if (resume()) {
      end();
    }
  }

  private void end() {
    synchronized (this) {
      state = State.DONE;
      stopTimer();
    }
    context.waiters().pending().remove(this);
    boolean hadToWait = waitsFor != null;
    unregister();
    if (hadToWait && context.events().isHeard()) {
      boolean acquired = !future.isCompletedExceptionally();
      context.events().emit(() -> new LockEvent.Waited(request.resources(), waited(), acquired));
    }
  }

  private void stopTimer() {
    if (timer != null) {
      timer.cancel();
      timer = null;
    }
  }

  private long elapsedNanos() {
    return context.ticker().nanoTime() - startNanos;
  }

  private Duration waited() {
    return Duration.ofNanos(elapsedNanos());
  }

  private List<NodeAnswer> answer(NodeAnswer.Kind kind, String detail, @Nullable Throwable cause) {
    return List.of(new NodeAnswer("postgresql", kind, detail, cause));
  }

  private LockNotAcquiredException.Attempt attempt(boolean exhausted, List<NodeAnswer> answers) {
    return new LockNotAcquiredException.Attempt(
        request.resources(), waited(), rounds, exhausted, answers);
  }
}
