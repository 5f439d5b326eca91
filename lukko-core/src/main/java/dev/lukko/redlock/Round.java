package dev.lukko.redlock;

import dev.lukko.spi.LockNode;
import dev.lukko.time.Scheduler;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * One question to all nodes at once, and the first moment at which their answers decide it.
 *
 * <p>Every node gets the request before anything is waited for. The round ends with the reply that
 * decides it, or at the node timeout, when whoever is silent counts as failed; a dead, hung or slow
 * node therefore never delays a decision that the others can make. Replies that arrive later are
 * handed to {@link #late}.
 *
 * @param <R> a node's reply
 */
abstract class Round<R> {
  private final List<LockNode> nodes;
  private final Electorate electorate;
  private final List<@Nullable R> replies;
  private final long timeoutNanos;
  private final @Nullable Patience patience;
  private boolean decided;
  private boolean timedOut;
  private String silence = "";
  private boolean @Nullable [] tardy;
  private Scheduler.@Nullable Timer timer;

  Round(List<LockNode> nodes, Electorate electorate, long timeoutNanos) {
    this(nodes, electorate, timeoutNanos, null);
  }

  /**
   * A round.
   *
   * @param electorate whose votes decide it
   * @param patience that of the calling thread, or null if no node may use it
   */
  Round(
      List<LockNode> nodes, Electorate electorate, long timeoutNanos, @Nullable Patience patience) {
    this.nodes = nodes;
    this.electorate = electorate;
    this.timeoutNanos = timeoutNanos;
    this.patience = patience;
    this.replies = new ArrayList<>(nodes.size());
    for (int i = 0; i < nodes.size(); i++) {
      replies.add(null);
    }
  }

  /**
   * Sends the request to one node.
   *
   * @param patience that of this thread, if the node may use it for the request
   */
  abstract CompletionStage<? extends R> ask(int index, LockNode node, @Nullable Patience patience);

  /** The reply that stands for a node that did not answer properly. */
  abstract R unknown(String detail, @Nullable Throwable cause);

  /** Counts a reply. */
  abstract Vote voteOf(R reply);

  /** The reply, or what stands for it if it cannot be true. */
  R checked(R reply) {
    return reply;
  }

  /** Whether a reply counts only where a quorum of nodes says the like. */
  boolean isFar(R reply) {
    return false;
  }

  /** Acts on the decision; called exactly once, outside of locks. */
  abstract void onDecided(Tally tally);

  /** Ends what this round serves: acting on its decision has failed by a mistake of ours. */
  abstract void onMistake(Throwable mistake);

  /** Acts on a reply that came after the decision. */
  abstract void late(int index, R reply);

  /** Whether the nodes may be asked; no if the round was given up before. */
  boolean begin() {
    return true;
  }

  /** A reply is in, in time or late; called outside of locks, before it is acted on. */
  void onAnswer(int index, R reply) {}

  /** All nodes have been asked, or it went wrong. */
  void asked() {}

  final void start(Scheduler scheduler) {
    if (!begin()) {
      return;
    }
    // All are asked before any answer is looked at: an answer that is there already may decide the
    // round, and the release that follows must not overtake the request on its way to a node.
    List<CompletionStage<? extends R>> stages = new ArrayList<>(nodes.size());
    try {
      for (int i = 0; i < nodes.size(); i++) {
        stages.add(ask(i, nodes.get(i), patience));
      }
    } finally {
      asked();
    }
    for (int i = 0; i < nodes.size(); i++) {
      int index = i;
      stages
          .get(i)
          .whenComplete(
              (reply, failure) ->
                  onReply(
                      index,
                      reply != null
                          ? possible(reply)
                          : GuardedNode.brokenReply(failure, this::unknown)));
    }
    synchronized (this) {
      if (!decided) {
        timer = scheduler.schedule(this::expire, leftNanos());
      }
    }
  }

  /** A node that used this thread, and then went on elsewhere, has used up some of the time. */
  private long leftNanos() {
    return patience == null ? timeoutNanos : patience.leftNanos();
  }

  private R possible(R reply) {
    try {
      return checked(reply);
    } catch (RuntimeException incomplete) {
      return unknown("the node gave an incomplete reply", incomplete);
    }
  }

  private void onReply(int index, R reply) {
    try {
      onAnswer(index, reply);
    } catch (Throwable mistake) {
      if (isOpen()) { // What was decided before does not rest on this answer.
        onMistake(mistake);
      }
    }
    count(index, reply);
  }

  private synchronized boolean isOpen() {
    return !decided;
  }

  private void count(int index, R reply) {
    boolean isLate;
    R judged;
    Tally tally;
    synchronized (this) {
      replies.set(index, reply);
      isLate = decided;
      if (timedOut) {
        tardy = tardy == null ? new boolean[nodes.size()] : tardy;
        tardy[index] = true;
      }
      tally = isLate ? null : decideIfPossible();
      judged = judged(reply, isFarAtQuorum());
    }
    if (tally != null) {
      decide(tally);
    } else if (isLate) {
      late(index, judged);
    }
  }

  /** Ends the round at its node timeout: silent nodes count as failed. */
  final void expire() {
    end("no answer within " + timeoutNanos / 1_000_000 + " ms");
  }

  /** Ends the round with the call that it serves, perhaps long before its node timeout. */
  final void cutShort() {
    end("no answer before the time of the call was over");
  }

  private void end(String whySilent) {
    Tally tally;
    synchronized (this) {
      if (decided) {
        return;
      }
      if (!timedOut) {
        timedOut = true;
        silence = whySilent;
      }
      tally = decideIfPossible();
    }
    if (tally != null) {
      decide(tally);
    }
  }

  /** No caller may wait for ever because of an exception that nobody has thought of. */
  private void decide(Tally tally) {
    try {
      onDecided(tally);
    } catch (Throwable mistake) {
      onMistake(mistake);
    }
  }

  private @Nullable Tally decideIfPossible() {
    Tally tally = tally();
    if (!isDecided(tally)) {
      return null;
    }
    decided = true;
    if (timer != null) {
      timer.cancel();
    }
    return tally;
  }

  /** The votes that are in by now; at the timeout, the silent nodes are failed ones. */
  final synchronized Tally tally() {
    return tallyOf(electorate);
  }

  /** The same, as another electorate would count them. */
  final synchronized Tally tallyOf(Electorate counting) {
    boolean followed = isFarAtQuorum();
    return counting.tally(
        node -> {
          R reply = replies.get(node);
          return reply != null ? voteOf(reply, followed) : timedOut ? Vote.FAULT : null;
        });
  }

  /** Whether the votes that are in decide the round. */
  boolean isDecided(Tally tally) {
    return tally.decided();
  }

  /** A reply that is far stays open for as long as the silent nodes may say the like. */
  private @Nullable Vote voteOf(R reply, boolean followed) {
    if (followed || !isFar(reply)) {
      return voteOf(reply);
    }
    return isFarAtQuorum(!timedOut) ? null : Vote.FAULT;
  }

  private boolean isFarAtQuorum() {
    return isFarAtQuorum(false);
  }

  private boolean isFarAtQuorum(boolean silentToo) {
    return electorate.isMajority(
        node -> {
          R reply = replies.get(node);
          return reply == null ? silentToo : isFar(reply);
        });
  }

  private R judged(R reply, boolean followed) {
    return followed || !isFar(reply) ? reply : unknown(Plausible.farAlone(), null);
  }

  /** The reply of one node, if it is in by now. */
  final synchronized @Nullable R reply(int index) {
    R reply = replies.get(index);
    return reply == null ? null : judged(reply, isFarAtQuorum());
  }

  /** The replies that are in by now, in the order of the nodes; null where there is none. */
  final synchronized List<@Nullable R> replies() {
    List<@Nullable R> copy = new ArrayList<>(replies);
    boolean followed = isFarAtQuorum();
    copy.replaceAll(reply -> reply != null ? judged(reply, followed) : timedOut ? tooLate() : null);
    return copy;
  }

  /**
   * The same, without those that came after the node timeout: a decision that was made then is told
   * by what it was made on.
   */
  final synchronized List<@Nullable R> repliesInTime() {
    List<@Nullable R> copy = replies();
    for (int i = 0; tardy != null && i < tardy.length; i++) {
      if (tardy[i]) {
        copy.set(i, tooLate());
      }
    }
    return copy;
  }

  private R tooLate() {
    return unknown(silence, null);
  }

  final List<LockNode> nodes() {
    return nodes;
  }

  /** Whose votes decide it. */
  final Electorate electorate() {
    return electorate;
  }

  /** How a reply counts. */
  enum Vote {
    YES,
    NO,
    FAULT
  }
}
