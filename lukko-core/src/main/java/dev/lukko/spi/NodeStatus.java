package dev.lukko.spi;

import dev.lukko.text.Printable;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Whether a node may vote, and what else is to be known of it.
 *
 * @param state whether it may vote
 * @param identity what tells this server from every other, for as long as it runs without a
 *     restart; empty if it cannot be reached
 * @param detail why it may not vote, or since when; for people; may be empty
 * @param remaining how long its quarantine lasts yet; zero unless it is quarantined
 * @param warnings what makes the node less safe than it could be, each with its consequence
 * @param traits what a client must know that has this node among others
 */
public record NodeStatus(
    State state,
    Optional<String> identity,
    String detail,
    Duration remaining,
    List<String> warnings,
    Set<Trait> traits) {

  /** What a client must know that has this node among others. */
  public enum Trait {
    /** It belongs to a cluster, which moves keys and fails over by itself: no independent node. */
    CLUSTER_MEMBER,
    /** A restart loses all that it has granted, so that it needs the quarantine. */
    FORGETFUL
  }

  /** Whether a node may vote. */
  public enum State {
    /** It votes. */
    VOTING,
    /** It lacks the marker: it is new, or it has forgotten everything. */
    UNMARKED,
    /** It has a marker of an earlier run: it was restarted and may have forgotten the latest. */
    RESTARTED,
    /**
     * It has forgotten or may have, and does not vote until whatever it granted must have ended.
     */
    QUARANTINED,
    /** It must never vote: a replica, another server behind the same address. */
    UNFIT,
    /** It cannot be reached. */
    UNREACHABLE
  }

  public NodeStatus {
    identity = identity.map(Printable::of);
    detail = Printable.of(detail);
    warnings = warnings.stream().map(Printable::of).toList();
    traits = Set.copyOf(traits);
  }

  /** A status of a node without traits. */
  public NodeStatus(
      State state,
      Optional<String> identity,
      String detail,
      Duration remaining,
      List<String> warnings) {
    this(state, identity, detail, remaining, warnings, Set.of());
  }

  /** A node that votes, without warnings. */
  public static NodeStatus voting(String identity) {
    return new NodeStatus(State.VOTING, Optional.of(identity), "", Duration.ZERO, List.of());
  }

  /** A node that cannot be reached. */
  public static NodeStatus unreachable(String detail) {
    return new NodeStatus(State.UNREACHABLE, Optional.empty(), detail, Duration.ZERO, List.of());
  }

  /** Whether somebody has to decide from when on the node may vote. */
  public boolean awaitsAdmission() {
    return state == State.UNMARKED || state == State.RESTARTED;
  }

  /** The state in words. */
  public String describe() {
    String words =
        switch (state) {
          case VOTING -> "voting";
          case UNMARKED -> "without marker";
          case RESTARTED -> "restarted";
          case QUARANTINED -> "quarantined for another " + ceilSeconds() + " s";
          case UNFIT -> "unfit to vote";
          case UNREACHABLE -> "unreachable";
        };
    return detail.isEmpty() ? words : words + ": " + detail;
  }

  private long ceilSeconds() {
    return remaining.plusNanos(999_999_999).toSeconds();
  }
}
