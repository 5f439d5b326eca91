package dev.lukko.redlock;

import dev.lukko.Lease;
import dev.lukko.LockEvent;
import dev.lukko.LockException;
import dev.lukko.LockInterruptedException;
import dev.lukko.LockNotAcquiredException.Attempt;
import dev.lukko.LockRequest;
import dev.lukko.spi.FairTicket;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import dev.lukko.time.Scheduler;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One acquiring call from its first round to its lease or its failure: the only place that knows
 * retries, deadlines and clean-up.
 *
 * <p>Each round has an owner and a start of its own. A lost round is released before the next one
 * begins, and a call that has ended in any way leaves nothing behind: a round that decides after
 * the end is abandoned, a grant that arrives even later is released again.
 *
 * <p>The lock of this object guards its state only; nodes, listeners and the caller's future are
 * never called inside it.
 */
final class AcquireLoop {
  private enum State {
    /** A round is under way, or about to begin. */
    ASKING,
    /** Between two rounds. */
    WAITING,
    DONE
  }

  private static final long FAIR_LEASE_MILLIS = 1_500;
  private static final long KEEPING_THE_PLACE_NANOS =
      TimeUnit.MILLISECONDS.toNanos(FAIR_LEASE_MILLIS / 3);
  private static final ThreadLocal<Boolean> WAKING = ThreadLocal.withInitial(() -> false);

  private final Context context;
  private final LockRequest request;
  private final String description;
  private final Acquirer acquirer;
  private final long ttlNanos;
  private final RetrySchedule schedule;
  private final HardDeadline deadline;
  private final @Nullable FairTicket ticket;
  private final CompletableFuture<Lease> result = new CompletableFuture<>();
  private final FlightRecord.Acquire flight = FlightRecord.acquire();

  private State state = State.ASKING;
  private @Nullable GrantRound round;
  private @Nullable Hold granted;
  private Scheduler.@Nullable Timer timer;
  private boolean admissionAwaited;
  private int rounds;
  private boolean wokenWhileAsking;
  private boolean byHint;
  private boolean letsWriterPass;
  private @Nullable Loss lastLoss;
  private volatile String deadlock = "";

  /**
   * A call that has not begun.
   *
   * @param description what stands behind the random part of its owner values
   * @param acquirer who made the call
   */
  AcquireLoop(Context context, LockRequest request, String description, Acquirer acquirer) {
    flight.begin();
    this.context = context;
    this.acquirer = acquirer;
    this.request = request;
    this.description = description;
    this.ttlNanos = context.checkedTtlNanos(request.ttl());
    this.schedule = new RetrySchedule(context, request.maxWait());
    this.deadline = new HardDeadline(context.scheduler, this::onOverdue);
    this.ticket =
        request.fair()
            ? new FairTicket(
                context.owners.next(""), context.ticker.wallMicros(), FAIR_LEASE_MILLIS)
            : null;
  }

  List<String> resources() {
    return request.resources();
  }

  boolean isShared() {
    return request.shared();
  }

  /** Its place among the fair waiters of all clients, or null if it does not ask for fairness. */
  @Nullable FairTicket ticket() {
    return ticket;
  }

  long waitedNanos() {
    return context.ticker.nanoTime() - schedule.startNanos();
  }

  /**
   * Begins. The future ends with the lease or the failure; ending it otherwise ends the call.
   *
   * @param inCaller whether this thread does nothing else than wait, so that the only node of a
   *     client may use it for the first round; later rounds begin in other threads
   */
  CompletableFuture<Lease> start(boolean inCaller) {
    result.whenComplete(
        (lease, failure) -> {
          if (end()) { // Cancelled or completed from outside, by a timeout for example.
            leaveNothing();
          }
        });
    if (!mayBeginInLine()) {
      ask(inCaller);
    }
    return result;
  }

  /** Takes a place before the first round, behind others of its line or for a writer's sake. */
  private boolean mayBeginInLine() {
    if (!schedule.mayWait()) {
      return false;
    }
    boolean behind = context.waitRoom.joinIfLine(this);
    long passNanos = behind ? 0 : context.waitRoom.nanosToLetWritersPass(this);
    if (!behind && passNanos <= 0) {
      return false;
    }
    synchronized (this) {
      schedule.beginInLine();
      if (passNanos > 0) {
        letsWriterPass = true;
        schedule.onHint(passNanos);
      }
    }
    if (!behind) {
      context.waitRoom.join(this);
    }
    beginToWait();
    return true;
  }

  /** The writer that this reader has let go first is granted, or has given up. */
  void noWriterWaits(boolean wake) {
    boolean passed;
    synchronized (this) {
      passed = letsWriterPass;
      letsWriterPass = false;
    }
    if (passed && wake) {
      wake();
    }
  }

  /** Whatever it is doing then, the call ends one node timeout after its budget. */
  private void setDeadline(long moreNanos) {
    long left = schedule.budgetLeftNanos();
    long last = context.nodeTimeoutNanos(ttlNanos) + moreNanos;
    deadline.set(left > Long.MAX_VALUE - last ? Long.MAX_VALUE / 2 : left + last);
  }

  // ---- asking

  private void ask() {
    ask(false);
  }

  private void ask(boolean inCaller) {
    context.waitRoom.asking(this);
    GrantRound asked;
    try {
      asked = newRound(inCaller);
    } catch (LockException impossible) {
      fail(impossible);
      return;
    }
    synchronized (this) {
      if (state != State.ASKING) {
        return;
      }
      round = asked;
      rounds++;
      wokenWhileAsking = false;
    }
    asked.start(context.scheduler);
    deadline.begin(asked);
    if (schedule.isTimed() && !deadline.isSet()) {
      setDeadline(0); // Not before its first round: it has one in any case.
    }
  }

  private GrantRound newRound(boolean inCaller) {
    // Before the proposal: one that grew old in a pause must count as elapsed time, or a node that
    // was in quarantine meanwhile would take it for new.
    long roundStartNanos = context.ticker.nanoTime();
    long roundWallStartMicros = context.ticker.wallMicros();
    Electorate electorate = context.admission.electorate();
    LockEntry entry =
        new LockEntry(resources(), context.owners.next(description), request.shared());
    GrantRequest grant =
        new GrantRequest(
            entry,
            TimeUnit.NANOSECONDS.toMillis(ttlNanos),
            context.proposals.next(resources(), electorate.floor()),
            ticket);
    long timeoutNanos = context.nodeTimeoutNanos(ttlNanos);
    return new GrantRound(
        context,
        electorate,
        timeoutNanos,
        grant,
        roundStartNanos,
        roundWallStartMicros,
        this::onVotes,
        this::onMistake,
        inCaller ? Patience.ofCaller(context, timeoutNanos) : null);
  }

  private void onVotes(GrantRound voted, Tally tally) {
    if (isDone()) {
      voted.abandon();
      return;
    }
    if (tally.anyNo()) {
      for (GrantReply.Refused refused : voted.refusals()) {
        context.proposals.seen(resources(), refused.counter());
      }
    }
    if (tally.anyFault() && voted.mustLookAgain(tally)) {
      CompletableFuture<Void> review = context.admission.review();
      if (!tally.won() && askAgainAfter(review, voted, Loss.ofVotes(voted, tally))) {
        return;
      }
    }
    if (!tally.won()) {
      lose(voted, Loss.ofVotes(voted, tally));
    } else if (isExhausted(voted)) {
      lose(voted, exhausted(voted));
    } else {
      TokenSettlement settlement = TokenSettlement.of(voted.grantedCounters(), voted.electorate());
      if (settlement.settled()) {
        grant(voted, settlement.number());
      } else {
        confirm(voted, settlement.number());
      }
    }
  }

  /** Asks once more behind a look at the nodes, unless this call has done so before. */
  private boolean askAgainAfter(CompletableFuture<Void> review, GrantRound lost, Loss loss) {
    if (admissionAwaited) {
      return false;
    }
    admissionAwaited = true;
    lost.abandon();
    synchronized (this) {
      lastLoss = loss;
    }
    if (schedule.isTimed()) {
      setDeadline(Admission.LONGEST_REVIEW_NANOS);
    }
    review.thenRun(this::ask);
    return true;
  }

  private void confirm(GrantRound voted, long number) {
    try {
      Proposals.checked(resources(), number);
    } catch (LockException impossible) {
      voted.abandon();
      fail(impossible);
      return;
    }
    ConfirmRound confirm =
        new ConfirmRound(
            voted,
            context.nodeTimeoutNanos(ttlNanos),
            number,
            (confirmed, tally) -> onConfirmed(voted, confirmed, tally),
            this::onMistake);
    confirm.start(context.scheduler);
    deadline.begin(confirm);
  }

  private void onConfirmed(GrantRound voted, ConfirmRound confirmed, Tally tally) {
    if (isDone()) {
      voted.abandon();
    } else if (isExhausted(voted)) {
      lose(voted, exhausted(voted));
    } else if (tally.won()) {
      grant(voted, confirmed.number());
    } else if (confirmed.worthAnotherTry() && !deadline.isPassed()) {
      confirm(voted, confirmed.nextNumber());
    } else {
      Loss loss = Loss.ofConfirmation(confirmed, tally);
      boolean again =
          confirmed.meetsAnotherRecord() && askAgainAfter(context.admission.review(), voted, loss);
      if (!again) {
        lose(voted, loss);
      }
    }
  }

  // ---- winning

  private void grant(GrantRound voted, long token) {
    context.proposals.seen(resources(), token);
    Hold hold =
        new Hold(
            context,
            voted.entry(),
            voted.release(),
            voted.electorate(),
            token,
            voted.startNanos(),
            windowOf(voted),
            limitOf(voted),
            request.autoExtend() ? ttlNanos : -ttlNanos);
    voted.servesFor(hold);
    synchronized (this) {
      granted = hold;
    }
    Lease lease = hold.begin(acquirer);
    if (!end()) {
      hold.release();
      return;
    }
    if (takeByHint()) {
      context.waitRoom.hintEnded(this, true);
    }
    // A fair waiter behind this one takes its place at the nodes now, before this hold can end; a
    // reader behind a reader is granted too.
    context.waitRoom.leave(this, request.fair() || request.shared());
    Duration waited = waited();
    context.events.emit(
        () ->
            new LockEvent.Acquired(
                resources(), token, waited, rounds, Duration.ofNanos(hold.remainingNanos())));
    recordEnd(true);
    if (!result.complete(lease)) {
      hold.release(); // Cancelled in this very moment.
    }
  }

  private ValidityWindow windowOf(GrantRound won) {
    return context.window(won.startNanos(), won.wallStartMicros(), ttlNanos);
  }

  private @Nullable ValidityWindow limitOf(GrantRound won) {
    return request
        .maxHold()
        .map(Scheduler::toNanosSaturated)
        .map(max -> ValidityWindow.of(won.startNanos(), won.wallStartMicros(), max, 0))
        .orElse(null);
  }

  private boolean isExhausted(GrantRound won) {
    return windowOf(won).remainingNanos(context.ticker.nanoTime(), context.ticker.wallMicros())
        <= context.settings.minValidityNanos();
  }

  private Loss exhausted(GrantRound won) {
    return Loss.ofValidity(
        won,
        Duration.ofNanos(context.ticker.nanoTime() - won.startNanos()),
        Duration.ofNanos(context.settings.driftNanos(ttlNanos)),
        request.ttl(),
        Duration.ofNanos(context.settings.minValidityNanos()));
  }

  // ---- losing

  private void lose(GrantRound lost, Loss loss) {
    lost.abandon();
    if (takeByHint()) {
      context.waitRoom.hintEnded(this, false);
    }
    if (!loss.unreachable()) {
      context.events.emit(() -> new LockEvent.Contended(resources(), loss.holder()));
    }
    boolean spent;
    boolean givingUp;
    synchronized (this) {
      if (state == State.DONE) {
        return;
      }
      spent = schedule.isSpent();
      givingUp = !schedule.mayWait() || spent || isHopeless(loss);
      lastLoss = loss;
      round = null; // Nothing of it is left to take back.
      if (!givingUp) {
        schedule.onLost(loss, ticket == null ? Long.MAX_VALUE : KEEPING_THE_PLACE_NANOS);
      }
    }
    if (givingUp) {
      fail(loss.toException().apply(attempt(schedule.mayWait() && spent)));
      return;
    }
    if (context.waitRoom.join(this)) {
      synchronized (this) {
        wokenWhileAsking = true; // If one behind it was woken, it was for this one.
      }
    }
    beginToWait();
  }

  /**
   * Whether there is no quorum to wait for: so many nodes have refused that those which were merely
   * silent cannot make one. A quorum that answered in the round before may have had a reset of its
   * connections, and gets another round.
   */
  private boolean isHopeless(Loss loss) {
    boolean answeredBefore = lastLoss != null && !lastLoss.unreachable();
    return loss.outOfReach() && !answeredBefore && !request.waitForQuorum();
  }

  /** Goes from asking to waiting, with a place in the line, unless the call has ended meanwhile. */
  private void beginToWait() {
    adviseOnDeadlock();
    boolean ended;
    synchronized (this) {
      ended = state == State.DONE;
      if (!ended) {
        state = State.WAITING;
        if (wokenWhileAsking) {
          schedule.onHint(holdBackNanos());
          byHint = true;
        }
      }
    }
    if (ended) {
      context.waitRoom.leave(this, true);
      context.waitGraph.waitsNoMore(acquirer);
    } else {
      rest();
    }
  }

  /** Looks for a circle of waiting threads, each time this call begins to wait. */
  private void adviseOnDeadlock() {
    String found = context.waitGraph.waits(acquirer, resources());
    if (!found.isEmpty() && !found.equals(deadlock)) {
      context.events.emit(() -> new LockEvent.DeadlockSuspected(resources(), found));
    }
    deadlock = found;
  }

  private void fail(LockException failure) {
    if (end()) {
      leaveNothing();
      recordEnd(false);
      result.completeExceptionally(failure);
    }
  }

  /** A round under way was ended by the deadline itself; here nothing was under way. */
  private void onOverdue() {
    Loss loss;
    synchronized (this) {
      loss = lastLoss;
    }
    if (loss != null) { // Else a round under way has just ended the call.
      fail(loss.toException().apply(attempt(schedule.mayWait())));
    }
  }

  /** Ends the call whatever its state, and takes back what it may have got. */
  private void onMistake(Throwable mistake) {
    LockException failure =
        new LockException("acquiring " + resources() + " failed by a mistake of Lukko's", mistake);
    GrantRound asked;
    Hold hold;
    synchronized (this) {
      asked = round;
      hold = granted;
    }
    try {
      end();
      if (hold != null) {
        hold.release();
      } else if (asked != null) {
        asked.abandon();
      }
      context.waitRoom.leave(this, true);
    } catch (Throwable another) {
      failure.addSuppressed(another);
    }
    result.completeExceptionally(failure);
  }

  /** Ends the call from outside with a failure of the caller's choice. */
  void abort(LockException failure) {
    fail(failure);
  }

  /** Ends the call for a caller whose thread was interrupted, and gives the error for it. */
  LockInterruptedException interrupt() {
    LockInterruptedException interrupted = new LockInterruptedException(attempt(false));
    fail(interrupted);
    return interrupted;
  }

  /** Takes back, after the end, what the call may have left at the nodes and in the line. */
  private void leaveNothing() {
    GrantRound unfinished;
    synchronized (this) {
      unfinished = round;
    }
    if (unfinished != null) {
      unfinished.abandon();
    }
    if (ticket != null) {
      LockEntry place = new LockEntry(resources(), ticket.waiter(), request.shared());
      context.nodes.forEach(node -> node.leave(place, ticket));
    }
    context.waitRoom.leave(this, true);
  }

  // ---- waiting

  private long holdBackNanos() {
    // Among fair waiters the nodes decide whose turn it is.
    return schedule.holdBackNanos(
        ticket != null ? 0 : context.waitRoom.turnsToLetPass(this, context.jitter.getAsDouble()));
  }

  /** Sets the timer for whatever comes first: the next beat, the next round, or the deadline. */
  private void rest() {
    boolean first = context.waitRoom.isFirst(this);
    synchronized (this) {
      if (state != State.WAITING) {
        return;
      }
      if (timer != null) {
        timer.cancel();
      }
      timer = context.scheduler.schedule(this::onTimer, schedule.untilDueNanos(first));
    }
  }

  private void onTimer() {
    boolean first = context.waitRoom.isFirst(this);
    boolean asking;
    synchronized (this) {
      if (state != State.WAITING) {
        return;
      }
      asking = schedule.isRoundDue(first);
      if (asking) {
        state = State.ASKING;
        letsWriterPass = false;
      }
    }
    if (asking) {
      ask();
    } else {
      rest();
    }
  }

  /**
   * The lock may be free: asks at once, in this thread, or after holding back. A wake-up that was
   * caused by another in the same thread goes by the timer, so that releases and grants which
   * follow one another at once do not pile up on the stack.
   */
  void wake() {
    if (isHoldingBack()) {
      context.waitRoom.hintEnded(this, false); // One of those that it let pass has won.
    }
    long holdBack = holdBackNanos();
    boolean first = context.waitRoom.isFirst(this);
    boolean nested = WAKING.get();
    boolean asking;
    synchronized (this) {
      if (letsWriterPass) {
        return; // A reader that has left frees nothing for this one that is not free already.
      }
      if (state == State.ASKING) {
        wokenWhileAsking = true;
      }
      if (state != State.WAITING) {
        return;
      }
      byHint = true;
      asking = first && holdBack == 0 && !nested;
      if (asking) {
        state = State.ASKING;
        if (timer != null) {
          timer.cancel();
        }
      } else {
        schedule.onHint(holdBack);
      }
    }
    if (!asking) {
      rest();
      return;
    }
    WAKING.set(true);
    try {
      ask();
    } finally {
      WAKING.set(false);
    }
  }

  /** The waiters before this one have left. */
  void becomeFirst(boolean wake) {
    if (wake) {
      wake();
    } else {
      rest();
    }
  }

  /** Whether a hint has led to the round that has just ended. */
  private synchronized boolean takeByHint() {
    boolean taken = byHint;
    byHint = false;
    return taken;
  }

  /** Whether this call still lets others pass after an earlier hint. */
  private synchronized boolean isHoldingBack() {
    return byHint && state == State.WAITING;
  }

  // ---- the end

  private synchronized boolean isDone() {
    return state == State.DONE;
  }

  /** Ends the call, once. */
  private boolean end() {
    synchronized (this) {
      if (state == State.DONE) {
        return false;
      }
      state = State.DONE;
      if (timer != null) {
        timer.cancel();
      }
    }
    deadline.cancel();
    context.waitGraph.waitsNoMore(acquirer);
    return true;
  }

  private Duration waited() {
    return Duration.ofNanos(context.ticker.nanoTime() - schedule.startNanos());
  }

  private synchronized Attempt attempt(boolean waitExhausted) {
    return new Attempt(
        resources(),
        waited(),
        rounds,
        waitExhausted,
        lastLoss == null ? List.of() : lastLoss.answers(),
        deadlock);
  }

  private void recordEnd(boolean acquired) {
    flight.end(resources(), acquired, rounds);
    if (schedule.mayWait() && rounds > 1) {
      Duration waited = waited();
      context.events.emit(() -> new LockEvent.Waited(resources(), waited, acquired));
    }
  }
}
