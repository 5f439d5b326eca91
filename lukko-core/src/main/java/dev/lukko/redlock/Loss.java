package dev.lukko.redlock;

import dev.lukko.Holder;
import dev.lukko.LockBusyException;
import dev.lukko.LockNotAcquiredException;
import dev.lukko.LockNotAcquiredException.Attempt;
import dev.lukko.NodeAnswer;
import dev.lukko.QuorumUnavailableException;
import dev.lukko.ValidityExhaustedException;
import dev.lukko.spi.GrantReply.Refused;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Why a round was lost, and the error that says so if no other round follows.
 *
 * @param unreachable whether no quorum of nodes could be reached
 * @param refusals what the refusing nodes said
 * @param answers what each node said
 * @param toException makes the error
 */
record Loss(
    boolean unreachable,
    List<Refused> refusals,
    List<NodeAnswer> answers,
    Function<Attempt, LockNotAcquiredException> toException) {

  /** The nodes' votes did not make a quorum. */
  static Loss ofVotes(GrantRound round, Tally tally) {
    List<NodeAnswer> answers = Answers.of(round.nodes(), round.repliesInTime());
    if (tally.unreachable()) {
      return noQuorum(answers, tally.quorum());
    }
    List<Refused> refusals = round.refusals();
    Optional<Holder> holder = refusals.stream().map(Refused::holder).findFirst();
    return new Loss(
        false, refusals, answers, attempt -> new LockBusyException(attempt, holder.orElse(null)));
  }

  /** A quorum granted, but its token could not be settled: too few nodes still hold the entry. */
  static Loss ofConfirmation(ConfirmRound round, Tally tally) {
    List<NodeAnswer> answers = Answers.of(round.nodes(), round.repliesInTime());
    return tally.unreachable()
        ? noQuorum(answers, tally.quorum())
        : new Loss(false, List.of(), answers, attempt -> new LockBusyException(attempt, null));
  }

  /** A quorum granted, but too little of the ttl was left. */
  static Loss ofValidity(
      GrantRound round, Duration elapsed, Duration drift, Duration ttl, Duration minValidity) {
    return new Loss(
        false,
        List.of(),
        Answers.of(round.nodes(), round.repliesInTime()),
        attempt -> new ValidityExhaustedException(attempt, elapsed, drift, ttl, minValidity));
  }

  private static Loss noQuorum(List<NodeAnswer> answers, int quorum) {
    return new Loss(
        true, List.of(), answers, attempt -> new QuorumUnavailableException(attempt, quorum));
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
