package dev.lukko.redlock;

import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeFault;
import dev.lukko.spi.NotVoting;
import dev.lukko.spi.Unknown;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The second question of a token: does this owner still hold the entry, and may it have this
 * number? A node whose grant had the number is not asked: its grant was the vote.
 */
final class ConfirmRound extends Round<ConfirmReply> {
  private final GrantRound granted;
  private final List<@Nullable GrantReply> grants;
  private final long number;
  private final BiConsumer<ConfirmRound, Tally> onDecided;
  private final Consumer<Throwable> onMistake;

  /**
   * A confirmation.
   *
   * @param granted the round that a quorum has granted
   * @param number the number to agree to
   */
  ConfirmRound(
      GrantRound granted,
      long timeoutNanos,
      long number,
      BiConsumer<ConfirmRound, Tally> onDecided,
      Consumer<Throwable> onMistake) {
    super(granted.nodes(), granted.electorate(), timeoutNanos);
    this.granted = granted;
    this.grants = granted.replies();
    this.number = number;
    this.onDecided = onDecided;
    this.onMistake = onMistake;
  }

  /** The number that is confirmed. */
  long number() {
    return number;
  }

  /** The lowest number to which all nodes agree that hold the entry, as far as they answered. */
  long nextNumber() {
    long highest = number;
    for (ConfirmReply reply : replies()) {
      if (reply instanceof ConfirmReply.Higher higher) {
        highest = Math.max(highest, higher.counter());
      }
    }
    return highest;
  }

  /** Whether another try can succeed: enough nodes hold the entry, some for a higher number. */
  boolean worthAnotherTry() {
    List<@Nullable ConfirmReply> replies = replies();
    Tally holding =
        electorate()
            .tally(
                node -> {
                  ConfirmReply reply = replies.get(node);
                  return reply instanceof ConfirmReply.Higher
                      ? Vote.YES
                      : reply == null ? null : voteOf(reply);
                });
    return nextNumber() > number && !holding.lost();
  }

  /** Whether a node has another record by now than it granted by: the fleet has moved on. */
  boolean meetsAnotherRecord() {
    return replies().stream().anyMatch(NotVoting.class::isInstance);
  }

  @Override
  CompletionStage<ConfirmReply> ask(int index, LockNode node, @Nullable Patience patience) {
    return grants.get(index) instanceof GrantReply.Granted grant && grant.counter() == number
        ? CompletableFuture.completedFuture(new ConfirmReply.Confirmed())
        : confirm(granted.electorate().seats().get(index), node);
  }

  /** What was granted in an epoch of the fleet is settled in it. */
  private CompletionStage<ConfirmReply> confirm(Seat seat, LockNode node) {
    return seat.seen() == null
        ? CompletableFuture.completedFuture(new NotVoting(seat.status()))
        : node.confirm(granted.entry().seen(seat.seen()), number);
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
    return Plausible.checked(reply, number);
  }

  @Override
  boolean isFar(ConfirmReply reply) {
    return number < Plausible.FAR
        && reply instanceof ConfirmReply.Higher higher
        && higher.counter() >= Plausible.FAR;
  }

  @Override
  void onDecided(Tally tally) {
    onDecided.accept(this, tally);
  }

  @Override
  void onMistake(Throwable mistake) {
    onMistake.accept(mistake);
  }

  /** A late confirmation burns a number that nobody uses: nothing to do. */
  @Override
  void late(int index, ConfirmReply reply) {}
}
