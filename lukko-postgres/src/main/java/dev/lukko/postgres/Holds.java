package dev.lukko.postgres;

import dev.lukko.Lease;
import dev.lukko.LockEvent;
import dev.lukko.LossReason;
import dev.lukko.NodeAnswer;
import dev.lukko.ReleaseOutcome;
import dev.lukko.lease.Events;
import dev.lukko.time.Callbacks;
import dev.lukko.time.Scheduler;
import dev.lukko.time.Ticker;
import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/** Every way in which a hold of this client goes on or ends, and who is told. */
final class Holds {
  private static final System.Logger LOG = System.getLogger(Holds.class.getName());
  private static final String NODE = "postgresql";

  private final Scheduler scheduler;
  private final Executor callbacks;
  private final Events events;
  private final Waiters waiters;
  private final Watch watch;
  private final ReferenceQueue<Lease> forgotten = new ReferenceQueue<>();

  /**
   * No holds yet.
   *
   * @param callbacks where the caller's code runs; never refuses
   */
  Holds(
      Scheduler scheduler,
      Executor callbacks,
      Ticker ticker,
      Events events,
      Waiters waiters,
      Duration probeInterval) {
    this.scheduler = scheduler;
    this.callbacks = callbacks;
    this.events = events;
    this.waiters = waiters;
    this.watch = new Watch(scheduler, ticker, probeInterval, this);
  }

  /**
   * Tells which hold a handle was for, after the handle itself is gone. Only its hold refers to it,
   * so that both disappear together once the hold is over.
   */
  private static final class Handle extends PhantomReference<Lease> {
    private final Hold hold;

    Handle(Lease lease, Hold hold, ReferenceQueue<Lease> queue) {
      super(lease, queue);
      this.hold = hold;
    }
  }

  /** Begins to watch over a new hold and gives its handle. */
  Lease begin(Hold hold, List<String> resources) {
    AdvisoryLease lease = new AdvisoryLease(hold, resources, this);
    hold.tie(new Handle(lease, hold, forgotten));
    watch.add(hold);
    if (hold.session().isEnded()) {
      lose(hold, LossReason.SESSION_ENDED); // It ended before the watch knew of the hold.
    }
    return lease;
  }

  ReleaseOutcome release(Hold hold) {
    if (!beginRelease(hold)) {
      return hold.outcome().join();
    }
    return finishRelease(hold);
  }

  CompletableFuture<ReleaseOutcome> releaseAsync(Hold hold) {
    if (beginRelease(hold)) {
      scheduler.execute(() -> finishRelease(hold));
    }
    return Callbacks.handOut(hold.outcome(), callbacks);
  }

  private boolean beginRelease(Hold hold) {
    if (hold.isHeld() && hold.remainingNanos() <= 0) {
      expire(hold);
    }
    return hold.end(LossReason.RELEASED);
  }

  private ReleaseOutcome finishRelease(Hold hold) {
    watch.remove(hold);
    ReleaseOutcome outcome = unlock(hold);
    hold.outcome().complete(outcome);
    if (events.isHeard()) {
      events.emit(
          () ->
              new LockEvent.Released(
                  names(hold), hold.token(), Duration.ofNanos(hold.heldNanos()), outcome));
    }
    return outcome;
  }

  private ReleaseOutcome unlock(Hold hold) {
    try {
      boolean unlocked = hold.session().unlock(hold);
      waiters.wake(hold.keys());
      return unlocked
          ? new ReleaseOutcome(
              ReleaseOutcome.Status.RELEASED,
              List.of(new NodeAnswer(NODE, NodeAnswer.Kind.RELEASED, "")))
          : notHeld("the session did not hold it");
    } catch (Throwable failure) { // Also an error of the driver's: somebody waits for the outcome.
      return new ReleaseOutcome(
          ReleaseOutcome.Status.UNKNOWN,
          List.of(
              new NodeAnswer(
                  NODE,
                  NodeAnswer.Kind.UNKNOWN,
                  "the connection was dropped; the server frees the lock when it notices: "
                      + failure.getMessage(),
                  failure)));
    }
  }

  private static ReleaseOutcome notHeld(String why) {
    return new ReleaseOutcome(
        ReleaseOutcome.Status.NOT_HELD,
        List.of(new NodeAnswer(NODE, NodeAnswer.Kind.NOT_HELD, why)));
  }

  /** Ends a hold whose time is over by the clocks. Never blocks. */
  void expire(Hold hold) {
    LossReason reason =
        hold.maxHoldLeftNanos() <= 0
            ? LossReason.MAX_HOLD_REACHED
            : watch.stoodStill(hold.ttlNanos()) ? LossReason.PAUSE_DETECTED : LossReason.EXPIRED;
    lose(hold, reason);
  }

  /** Ends a hold against its holder's will. Never blocks. */
  void lose(Hold hold, LossReason reason) {
    if (!hold.end(reason)) {
      return;
    }
    watch.remove(hold);
    hold.outcome().complete(notHeld(reason.explanation()));
    if (events.isHeard()) {
      events.emit(() -> new LockEvent.Lost(names(hold), hold.token(), reason));
    }
    hold.signal().give(reason);
    if (!hold.session().isEnded()) {
      // The session may well live, and would keep the lock from everybody.
      scheduler.execute(() -> unlock(hold));
    }
  }

  /** The session is gone, and everything that it held. */
  void sessionEnded(AdvisorySession session) {
    for (Hold hold : watch.holds()) {
      if (hold.session() == session) {
        lose(hold, LossReason.SESSION_ENDED);
      }
    }
  }

  /** Asks the session for a sign of life; false if none came while the hold is still valid. */
  boolean extend(Hold hold, long ttlNanos) {
    try {
      Proof proof = hold.session().probe();
      if (!hold.renew(proof)) {
        if (hold.isHeld()) {
          expire(hold);
        }
        return false;
      }
      hold.allowSilence(ttlNanos);
      watch.add(hold);
      if (events.isHeard()) {
        events.emit(
            () ->
                new LockEvent.Extended(
                    names(hold), hold.token(), Duration.ofNanos(hold.remainingNanos())));
      }
      return true;
    } catch (SQLException failure) {
      extensionFailed(hold, failure);
      return false;
    }
  }

  /** One background sign of life for all holds of a session. Blocks for one statement or two. */
  void probe(AdvisorySession session, List<Hold> holds) {
    try {
      Proof proof = session.probe();
      for (Hold hold : holds) {
        if (!hold.renew(proof) && hold.isHeld()) {
          expire(hold);
        }
      }
      List<Hold> unpublished =
          holds.stream().filter(hold -> hold.isHeld() && !hold.published()).toList();
      if (!unpublished.isEmpty()) {
        session.publish(unpublished);
      }
    } catch (SQLException | RuntimeException failure) {
      holds.forEach(hold -> extensionFailed(hold, failure));
    }
  }

  private void extensionFailed(Hold hold, Exception failure) {
    if (hold.isHeld() && events.isHeard()) {
      events.emit(
          () ->
              new LockEvent.ExtensionFailed(
                  names(hold),
                  hold.token(),
                  Duration.ofNanos(Math.max(0, hold.remainingNanos())),
                  List.of(
                      new NodeAnswer(
                          NODE,
                          NodeAnswer.Kind.UNKNOWN,
                          String.valueOf(failure.getMessage()),
                          failure))));
    }
  }

  /**
   * Lets go of what nobody can release any more, since its handle is garbage, unless somebody is to
   * hear of its loss. It is not released: its holder may still work, and ends by its ttl.
   */
  void noticeForgotten() {
    for (Reference<? extends Lease> gone = forgotten.poll();
        gone != null;
        gone = forgotten.poll()) {
      if (gone instanceof Handle handle && handle.hold.forget()) {
        Hold hold = handle.hold;
        LOG.log(
            System.Logger.Level.WARNING,
            "lease of {0} with fencing token {1} was never released and nobody can reach it; it"
                + " ends by its ttl",
            names(hold),
            Long.toString(hold.token()));
        events.emit(() -> new LockEvent.Leaked(names(hold), hold.token(), Optional.empty()));
      }
    }
  }

  /**
   * Ends everything with the client. A holder hears of it first, so that what he may still do under
   * the lease is over before another gets it: a release waits for the callbacks, and no longer than
   * the lease would have been valid.
   */
  void close(Duration nodeTimeout) {
    long longestNanos = 0;
    List<CompletableFuture<Void>> ends = new ArrayList<>();
    for (Hold hold : watch.holds()) {
      long leftNanos = Math.max(0, hold.remainingNanos());
      if (hold.end(LossReason.CLIENT_CLOSED)) {
        longestNanos = Math.max(longestNanos, leftNanos);
        ends.add(tellOfClose(hold, leftNanos).thenRunAsync(() -> give(hold), scheduler::execute));
      }
    }
    CompletableFuture<Void> all =
        CompletableFuture.allOf(ends.toArray(new CompletableFuture<?>[0]));
    try {
      BoundedWait.result(all, longestNanos + nodeTimeout.toNanos());
    } catch (SQLException | TimeoutException late) {
      LOG.log(System.Logger.Level.WARNING, "leases are left to the end of the session", late);
      ends.forEach(end -> end.cancel(false));
    }
    watch.close();
  }

  private CompletableFuture<Void> tellOfClose(Hold hold, long leftNanos) {
    watch.remove(hold);
    events.emit(() -> new LockEvent.Lost(names(hold), hold.token(), LossReason.CLIENT_CLOSED));
    hold.signal().give(LossReason.CLIENT_CLOSED);
    CompletableFuture<Void> told = hold.signal().told();
    CompletableFuture<Void> over = new CompletableFuture<>();
    if (!told.isDone()) {
      Scheduler.Timer timer = scheduler.schedule(() -> over.complete(null), leftNanos);
      over.whenComplete((done, none) -> timer.cancel());
    }
    told.whenComplete((done, none) -> over.complete(null));
    return over;
  }

  private void give(Hold hold) {
    hold.outcome().complete(unlock(hold));
  }

  CompletableFuture<Boolean> extendAsync(Supplier<Boolean> call) {
    return Callbacks.handOut(CompletableFuture.supplyAsync(call, scheduler::execute), callbacks);
  }

  static List<String> names(Hold hold) {
    return hold.keys().stream().map(LockKey::name).sorted().toList();
  }
}
