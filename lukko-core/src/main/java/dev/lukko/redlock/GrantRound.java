package dev.lukko.redlock;

import dev.lukko.spi.Failed;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeFault;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.NodeStatus.State;
import dev.lukko.spi.NotVoting;
import dev.lukko.spi.Unknown;
import dev.lukko.time.Ticker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The question of an acquisition: will you hold this entry?
 *
 * <p>A round that is given up is released on every node, whatever the node answered, and a grant
 * that arrives after that, or after the end of the hold it was meant for, is released again. So no
 * entry outlives its acquisition by a ttl because a reply was late.
 */
final class GrantRound extends Round<GrantReply> {
  private final Admission admission;
  private final List<Seat> seats;
  private final NodeStates states;
  private final GrantRequest request;
  private final EntryRelease release;
  private final long startNanos;
  private final long wallStartMicros;
  private final BiConsumer<GrantRound, Tally> onDecided;
  private final Consumer<Throwable> onMistake;
  private final OpenReleases releases;
  private final RoundTrips roundTrips;
  private final Ticker ticker;
  private final AtomicBoolean begun = new AtomicBoolean();
  private final CompletableFuture<Void> asked = new CompletableFuture<>();
  private volatile boolean abandoned;
  private volatile @Nullable Hold hold;

  GrantRound(
      Context context,
      Electorate electorate,
      long timeoutNanos,
      GrantRequest request,
      long startNanos,
      long wallStartMicros,
      BiConsumer<GrantRound, Tally> onDecided,
      Consumer<Throwable> onMistake,
      @Nullable Patience patience) {
    super(context.nodes, electorate, timeoutNanos, patience);
    this.admission = context.admission;
    this.seats = electorate.seats();
    this.states = context.nodeStates;
    this.releases = context.releases;
    this.roundTrips = context.roundTrips;
    this.ticker = context.ticker;
    this.request = request;
    this.release = new EntryRelease(context.nodes, request.entry());
    this.onDecided = onDecided;
    this.onMistake = onMistake;
    this.startNanos = startNanos;
    this.wallStartMicros = wallStartMicros;
  }

  /** When this round, and no earlier one, began: the origin of the validity it may win. */
  long startNanos() {
    return startNanos;
  }

  /** The same on the wall clock. */
  long wallStartMicros() {
    return wallStartMicros;
  }

  LockEntry entry() {
    return request.entry();
  }

  /** What takes the entry back. */
  EntryRelease release() {
    return release;
  }

  /** The counters of the grants that are in by now, by node; zero where there is none. */
  long[] grantedCounters() {
    List<@Nullable GrantReply> replies = replies();
    long[] counters = new long[replies.size()];
    for (int i = 0; i < counters.length; i++) {
      counters[i] = replies.get(i) instanceof GrantReply.Granted granted ? granted.counter() : 0;
    }
    return counters;
  }

  /** The refusals that are in by now. */
  List<GrantReply.Refused> refusals() {
    List<GrantReply.Refused> refusals = new ArrayList<>();
    for (GrantReply reply : replies()) {
      if (reply instanceof GrantReply.Refused refused) {
        refusals.add(refused);
      }
    }
    return refusals;
  }

  /**
   * Whether the client must look at its nodes anew: one has told something else of itself than was
   * seen, or without one that does not count at present the round cannot be won.
   */
  boolean mustLookAgain(Tally tally) {
    boolean worthIt = !tally.won() && (!tally.anyNo() || admission.mayChange());
    List<@Nullable GrantReply> replies = replies();
    for (int i = 0; i < replies.size(); i++) {
      if (isStale(i, replies.get(i))) {
        return true;
      }
      if (worthIt && isBarred(i)) {
        return true;
      }
    }
    return false;
  }

  private boolean isBarred(int index) {
    return seats.get(index).seen() == null && !seats.get(index).isUnknown();
  }

  private boolean isStale(int index, @Nullable GrantReply reply) {
    if (!(reply instanceof NotVoting notVoting) || isBarred(index)) {
      return false;
    }
    NodeStatus status = notVoting.status();
    return status.state() == State.CHANGED || (status.memory() != null && status.awaitsAdmission());
  }

  /** From now on late grants are votes for this hold, until it ends. */
  void servesFor(Hold granted) {
    hold = granted;
  }

  /**
   * Gives the round up and releases it on all nodes. Only if every node has answered that it
   * refused is there nothing to release: the owner is fresh, it was sent once, and each node has
   * dealt with it.
   *
   * <p>A round that has not begun never does. While another thread still asks the nodes, a release
   * would overtake the requests, so it follows behind them, and the client's end waits for it.
   */
  void abandon() {
    boolean nothing = begun.compareAndSet(false, true) || isRefusedByAll();
    if (!nothing) {
      release.begin();
    }
    abandoned = true;
    if (nothing) {
      return;
    }
    releases.add(asked);
    asked.thenRun(release::sendToAll);
  }

  /** Whether each node that was asked for a grant has refused it. */
  private boolean isRefusedByAll() {
    List<@Nullable GrantReply> replies = replies();
    for (int i = 0; i < replies.size(); i++) {
      if (seats.get(i).seen() != null && !(replies.get(i) instanceof GrantReply.Refused)) {
        return false;
      }
    }
    return true;
  }

  @Override
  boolean begin() {
    return begun.compareAndSet(false, true);
  }

  @Override
  void asked() {
    asked.complete(null);
  }

  @Override
  CompletionStage<GrantReply> ask(int index, LockNode node, @Nullable Patience patience) {
    Seat seat = seats.get(index);
    if (seat.seen() == null) {
      return seat.isUnknown()
          ? node.status().thenApply(GrantRound::unseen)
          : CompletableFuture.completedFuture(new NotVoting(seat.status()));
    }
    GrantRequest asked = request.seen(seat.seen());
    return patience == null ? node.grant(asked) : node.grantInCaller(asked, patience.leftNanos());
  }

  /** A node that could not be reached before grants nothing before it is clear who it is. */
  private static GrantReply unseen(NodeStatus status) {
    if (status.identity().isEmpty()) {
      // The detail begins with the class of the fault: a connection that is being made is no
      // refusal.
      boolean unreachable = status.state() == State.UNREACHABLE;
      return new Failed(unreachable ? status.detail() : status.describe());
    }
    return new NotVoting(status.with(State.CHANGED, "not looked at yet", Duration.ZERO));
  }

  @Override
  GrantReply unknown(String detail, @Nullable Throwable cause) {
    return new Unknown(detail, cause);
  }

  @Override
  Vote voteOf(GrantReply reply) {
    return reply instanceof GrantReply.Granted
        ? Vote.YES
        : reply instanceof NodeFault ? Vote.FAULT : Vote.NO;
  }

  /** Late answers count too: a timeout that healthy nodes miss must grow. */
  @Override
  void onAnswer(int index, GrantReply reply) {
    if (!(reply instanceof NodeFault)) {
      roundTrips.add(index, ticker.nanoTime() - startNanos);
    }
  }

  @Override
  GrantReply checked(GrantReply reply) {
    return Plausible.checked(reply);
  }

  @Override
  boolean isFar(GrantReply reply) {
    return (reply instanceof GrantReply.Granted granted && granted.counter() >= Plausible.FAR)
        || (reply instanceof GrantReply.Refused refused && refused.counter() >= Plausible.FAR);
  }

  @Override
  void onDecided(Tally tally) {
    if (states.isHeard()) {
      states.saw(nodes(), replies());
    }
    onDecided.accept(this, tally);
  }

  @Override
  void onMistake(Throwable mistake) {
    onMistake.accept(mistake);
  }

  @Override
  void late(int index, GrantReply reply) {
    states.saw(nodes().get(index), reply);
    if (isStale(index, reply)) {
      admission.review();
    }
    Hold served = hold;
    boolean unwanted = abandoned || (served != null && served.isEnded());
    if (unwanted && (reply instanceof GrantReply.Granted || reply instanceof Unknown)) {
      release.onUnwantedGrant(index);
    }
  }
}
