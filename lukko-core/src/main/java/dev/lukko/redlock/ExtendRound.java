package dev.lukko.redlock;

import dev.lukko.LossReason;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeFault;
import dev.lukko.spi.NotVoting;
import dev.lukko.spi.Unknown;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The question of an extension: do you still hold this entry, and will you keep it longer?
 *
 * <p>A node that has no entry gets it again, but only after a quorum has extended in this very
 * round and while the hold lives. A repair that lands after the hold's end is released again; one
 * that is stuck on its way longer than that is repeated is not done any more, since it names a last
 * moment of the node's own clock.
 */
final class ExtendRound extends Round<ExtendReply> {
  /** A repair is worth less than the certainty that it is over. */
  private static final long REPAIRABLE_MILLIS = 1_000;

  private final Admission admission;
  private final List<Seat> seats;
  private final Hold hold;
  private final long ttlMillis;
  private final Hold.Extension extension;
  private volatile boolean repairing;
  private final AtomicInteger openRepairs = new AtomicInteger();

  ExtendRound(
      Context context,
      Electorate electorate,
      long timeoutNanos,
      Hold hold,
      long ttlMillis,
      Hold.Extension extension) {
    super(context.nodes, electorate, timeoutNanos);
    this.admission = context.admission;
    this.seats = electorate.seats();
    this.hold = hold;
    this.ttlMillis = ttlMillis;
    this.extension = extension;
  }

  /**
   * While the set of nodes changes, the nodes that are to come lack the entries of earlier leases;
   * so it is the present set that is waited for, by which such a lease may be put there.
   */
  @Override
  boolean isDecided(Tally tally) {
    Tally present = tally.ofPresentSet();
    return tally.won() || present.lost() || (present.won() && tally.lost());
  }

  /**
   * Why the hold is lost, if so many nodes of those that it rests on denied it that no quorum can
   * be had; else null.
   */
  @Nullable LossReason definiteLoss() {
    if (!tallyOf(hold.basis()).refuted()) {
      return null;
    }
    boolean taken = replies().stream().anyMatch(reply -> reply instanceof ExtendReply.HeldByOther);
    return taken ? LossReason.TAKEN_OVER : LossReason.NOT_HELD;
  }

  long ttlNanos() {
    return TimeUnit.MILLISECONDS.toNanos(ttlMillis);
  }

  /** The id of the server that a node's request was meant for; empty if it has none. */
  String serverAt(int node) {
    return seats.get(node).self();
  }

  /** Whether a node has done what it was asked. */
  boolean isExtendedAt(int node) {
    return reply(node) instanceof ExtendReply.Extended;
  }

  /** Whether a node may apply a request of this round only later, behind a newer one. */
  boolean isOpenAt(int node) {
    ExtendReply reply = reply(node);
    return reply == null
        || reply instanceof Unknown
        || (reply instanceof ExtendReply.Missing && openRepairs.get() > 0);
  }

  /** Whether no node can apply a request of this round any more. */
  boolean isAnswered() {
    for (int node = 0; node < nodes().size(); node++) {
      if (isOpenAt(node)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Puts the entry back on the nodes that lack it, now and as their late replies come in.
   *
   * @return ends when those that are asked now have answered
   */
  CompletableFuture<Void> repairMissing() {
    repairing = true;
    List<@Nullable ExtendReply> replies = replies();
    List<CompletableFuture<?>> repairs = new ArrayList<>();
    for (int i = 0; i < replies.size(); i++) {
      if (replies.get(i) instanceof ExtendReply.Missing missing) {
        repairs.add(repair(i, missing).toCompletableFuture());
      }
    }
    return CompletableFuture.allOf(repairs.toArray(new CompletableFuture<?>[0]));
  }

  private CompletionStage<?> repair(int index, ExtendReply.Missing missing) {
    String seen = seats.get(index).seen();
    if (hold.isEnded() || !hold.isValid() || seen == null) {
      return CompletableFuture.completedFuture(false);
    }
    LockNode node = nodes().get(index);
    hold.entryRelease().onRepair(index);
    openRepairs.incrementAndGet();
    return node.repair(hold.entry().seen(seen), ttlMillis, hold.token(), lastMoment(missing))
        .whenComplete(
            (reply, failure) -> {
              if (reply != null && !(reply instanceof Unknown)) {
                openRepairs.decrementAndGet();
              }
              if (hold.isEnded()) {
                node.release(hold.entry());
              }
            });
  }

  /**
   * The end of the validity, as the node counts it: it looked before its answer was here, so its
   * clock reaches that moment no later.
   */
  private long lastMoment(ExtendReply.Missing missing) {
    long leftMillis = TimeUnit.NANOSECONDS.toMillis(hold.remainingNanos());
    return missing.atMillis() + Math.min(leftMillis, REPAIRABLE_MILLIS);
  }

  @Override
  CompletionStage<ExtendReply> ask(int index, LockNode node, @Nullable Patience patience) {
    Seat seat = seats.get(index);
    return seat.seen() == null
        ? CompletableFuture.completedFuture(new NotVoting(seat.status()))
        : node.extend(hold.entry().seen(seat.seen()), ttlMillis);
  }

  /** Whether a node has told something else of itself than was seen, or is not seen yet. */
  boolean mustLookAgain() {
    List<@Nullable ExtendReply> replies = replies();
    for (int i = 0; i < replies.size(); i++) {
      if (replies.get(i) instanceof NotVoting
          && (seats.get(i).seen() != null || admission.mayChange())) {
        return true;
      }
    }
    return false;
  }

  @Override
  ExtendReply unknown(String detail, @Nullable Throwable cause) {
    return new Unknown(detail, cause);
  }

  @Override
  Vote voteOf(ExtendReply reply) {
    return reply instanceof ExtendReply.Extended
        ? Vote.YES
        : reply instanceof NodeFault ? Vote.FAULT : Vote.NO;
  }

  @Override
  void onDecided(Tally tally) {
    hold.onExtensionDecided(this, tally, extension);
  }

  @Override
  void onMistake(Throwable mistake) {
    extension.result().completeExceptionally(mistake);
  }

  @Override
  void late(int index, ExtendReply reply) {
    if (reply instanceof NotVoting && seats.get(index).seen() != null) {
      admission.review();
    }
    if (repairing) {
      if (reply instanceof ExtendReply.Missing missing) {
        var unused = repair(index, missing);
      }
    } else {
      hold.onLateDenial(this);
    }
  }
}
