package dev.lukko.redlock;

import dev.lukko.ReleaseOutcome;
import dev.lukko.ReleaseOutcome.Status;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeFault;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.spi.Unknown;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The end of a hold: delete this entry, if it is still this owner's. */
final class ReleaseRound extends Round<ReleaseReply> {
  private final EntryRelease release;
  private final BiConsumer<ReleaseRound, ReleaseOutcome> onOutcome;
  private final Consumer<Throwable> onMistake;

  ReleaseRound(
      List<LockNode> nodes,
      Electorate electorate,
      long timeoutNanos,
      EntryRelease release,
      BiConsumer<ReleaseRound, ReleaseOutcome> onOutcome,
      Consumer<Throwable> onMistake,
      @Nullable Patience patience) {
    super(nodes, electorate, timeoutNanos, patience);
    this.release = release;
    this.onOutcome = onOutcome;
    this.onMistake = onMistake;
  }

  /**
   * How many clients watch the resource: the most that a quorum of nodes has told, so that no
   * single one can hold the waiters back.
   */
  int watchers() {
    List<Integer> told = new ArrayList<>();
    for (ReleaseReply reply : replies()) {
      told.add(reply instanceof ReleaseReply.Released released ? released.watchers() : 0);
    }
    told.sort(Comparator.reverseOrder());
    return told.get(Tally.quorumOf(told.size()) - 1);
  }

  @Override
  CompletionStage<ReleaseReply> ask(int index, LockNode node, @Nullable Patience patience) {
    return release.send(index, patience);
  }

  @Override
  ReleaseReply unknown(String detail, @Nullable Throwable cause) {
    return new Unknown(detail, cause);
  }

  @Override
  Vote voteOf(ReleaseReply reply) {
    return reply instanceof ReleaseReply.Released
        ? Vote.YES
        : reply instanceof NodeFault ? Vote.FAULT : Vote.NO;
  }

  @Override
  void onDecided(Tally tally) {
    Status status =
        tally.won() ? Status.RELEASED : tally.refuted() ? Status.NOT_HELD : Status.UNKNOWN;
    onOutcome.accept(this, new ReleaseOutcome(status, Answers.of(nodes(), repliesInTime())));
  }

  @Override
  void onMistake(Throwable mistake) {
    onMistake.accept(mistake);
  }

  /** The outcome was certain without it; an unsent release is the node's to repeat. */
  @Override
  void late(int index, ReleaseReply reply) {}
}
