package dev.lukko.redlock;

import dev.lukko.Holder;
import dev.lukko.LockBusyException;
import dev.lukko.LockNotAcquiredException;
import dev.lukko.LockNotAcquiredException.Attempt;
import dev.lukko.NodeAnswer;
import dev.lukko.QuorumUnavailableException;
import dev.lukko.ValidityExhaustedException;
import dev.lukko.redlock.Round.Vote;
import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.Failed;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantReply.Refused;
import dev.lukko.spi.NotVoting;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Why a round was lost, and the error that says so if no other round follows.
 *
 * @param unreachable whether no quorum of nodes could be reached
 * @param outOfReach whether so many nodes refused that silent ones would not have made a quorum
 * @param refusals what the refusing nodes said
 * @param answers what each node said
 * @param toException makes the error
 */
record Loss(
    boolean unreachable,
    boolean outOfReach,
    List<Refused> refusals,
    List<NodeAnswer> answers,
    Function<Attempt, LockNotAcquiredException> toException) {

  /** The nodes' votes did not make a quorum. */
  static Loss ofVotes(GrantRound round, Tally tally) {
    List<@Nullable GrantReply> replies = round.repliesInTime();
    List<NodeAnswer> answers = Answers.of(round.nodes(), replies);
    if (tally.unreachable()) {
      return noQuorum(answers, tally.quorum(), isOutOfReach(replies, round.electorate()));
    }
    List<Refused> refusals = round.refusals();
    Optional<Holder> holder = refusals.stream().map(Refused::holder).findFirst();
    return new Loss(
        false,
        false,
        refusals,
        answers,
        attempt -> new LockBusyException(attempt, holder.orElse(null)));
  }

  /** A quorum granted, but its token could not be settled: too few nodes still hold the entry. */
  static Loss ofConfirmation(ConfirmRound round, Tally tally) {
    List<@Nullable ConfirmReply> replies = round.repliesInTime();
    List<NodeAnswer> answers = Answers.of(round.nodes(), replies);
    return tally.unreachable()
        ? new Loss(
            true,
            isOutOfReach(replies, round.electorate()),
            List.of(),
            answers,
            attempt ->
                QuorumUnavailableException.ofToken(
                    attempt, round.number(), tally.yes(), tally.quorum()))
        : new Loss(
            false,
            false,
            List.of(),
            answers,
            attempt -> LockBusyException.ofToken(attempt, round.number()));
  }

  /** A quorum granted, but too little of the ttl was left. */
  static Loss ofValidity(
      GrantRound round, Duration elapsed, Duration drift, Duration ttl, Duration minValidity) {
    return new Loss(
        false,
        false,
        List.of(),
        Answers.of(round.nodes(), round.repliesInTime()),
        attempt -> new ValidityExhaustedException(attempt, elapsed, drift, ttl, minValidity));
  }

  private static Loss noQuorum(List<NodeAnswer> answers, int quorum, boolean outOfReach) {
    return new Loss(
        true,
        outOfReach,
        List.of(),
        answers,
        attempt -> new QuorumUnavailableException(attempt, quorum));
  }

  /** A node that was silent, or had no connection for a moment, may answer the next question. */
  private static boolean isOutOfReach(
      List<? extends @Nullable Object> replies, Electorate electorate) {
    return electorate
        .tally(
            node ->
                replies.get(node) instanceof NotVoting
                        || (replies.get(node) instanceof Failed failed && !failed.isPassing())
                    ? Vote.FAULT
                    : Vote.YES)
        .unreachable();
  }

  /** Who holds the lock, if a node told. */
  Optional<Holder> holder() {
    return refusals.stream().map(Refused::holder).findFirst();
  }

  /** Whether the votes were split, so that nobody may hold the lock. */
  boolean isSplit(int quorum) {
    return !unreachable && refusals.size() < quorum;
  }
}
