package dev.lukko.redlock;

import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeFault;
import dev.lukko.spi.Unknown;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The second question of a token: does this owner still hold the entry, and is this number new? */
final class ConfirmRound extends Round<ConfirmReply> {
  private final LockEntry entry;
  private final long counter;
  private final BiConsumer<ConfirmRound, Tally> onDecided;
  private final Consumer<RuntimeException> onMistake;

  ConfirmRound(
      List<LockNode> nodes,
      long timeoutNanos,
      LockEntry entry,
      long counter,
      BiConsumer<ConfirmRound, Tally> onDecided,
      Consumer<RuntimeException> onMistake) {
    super(nodes, timeoutNanos);
    this.entry = entry;
    this.counter = counter;
    this.onDecided = onDecided;
    this.onMistake = onMistake;
  }

  long counter() {
    return counter;
  }

  /** The highest counter that a node set against ours, or ours if none did. */
  long highestSeen() {
    long highest = counter;
    for (ConfirmReply reply : replies()) {
      if (reply instanceof ConfirmReply.Higher higher) {
        highest = Math.max(highest, higher.counter());
      }
    }
    return highest;
  }

  /** Whether another try with a higher number can succeed: enough nodes still hold the entry. */
  boolean worthAnotherTry() {
    long holding =
        replies().stream()
            .filter(
                reply ->
                    reply instanceof ConfirmReply.Confirmed || reply instanceof ConfirmReply.Higher)
            .count();
    Tally tally = tally();
    return holding + tally.outstanding() >= tally.quorum();
  }

  @Override
  CompletionStage<ConfirmReply> ask(int index, LockNode node, @Nullable Patience patience) {
    return node.confirm(entry, counter);
  }

  @Override
  ConfirmReply unknown(String detail, @Nullable Throwable cause) {
    return new Unknown(detail, cause);
  }

  @Override
  Vote voteOf(ConfirmReply reply) {
    return reply instanceof ConfirmReply.Confirmed
        ? Vote.YES
        : reply instanceof NodeFault ? Vote.FAULT : Vote.NO;
  }

  @Override
  ConfirmReply checked(ConfirmReply reply) {
    return Plausible.checked(reply, counter);
  }

  @Override
  boolean isFar(ConfirmReply reply) {
    return counter < Plausible.FAR
        && reply instanceof ConfirmReply.Higher higher
        && higher.counter() >= Plausible.FAR;
  }

  @Override
  void onDecided(Tally tally) {
    onDecided.accept(this, tally);
  }

  @Override
  void onMistake(RuntimeException mistake) {
    onMistake.accept(mistake);
  }

  /** A late confirmation burns a number that nobody uses: nothing to do. */
  @Override
  void late(int index, ConfirmReply reply) {}
}
