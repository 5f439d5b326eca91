package dev.lukko.spi;

import dev.lukko.text.Printable;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Whether a node may vote, and what else is to be known of it.
 *
 * @param state whether it may vote
 * @param identity what tells this server from every other, for as long as it runs without a
 *     restart; empty if it cannot be reached
 * @param detail why it may not vote, or since when; human-readable; may be empty
 * @param remaining how long its quarantine lasts yet; zero unless it is quarantined, or if it only
 *     waits for the counters of a majority to be read
 * @param warnings what makes the node less safe than it could be, each with its consequence
 * @param traits what a client must know that has this node among others
 * @param memory the records that a store keeps which can forget; null if it keeps none. The state
 *     is then that in the first fleet, see {@link #in}
 */
public record NodeStatus(
    State state,
    Optional<String> identity,
    String detail,
    Duration remaining,
    List<String> warnings,
    Set<Trait> traits,
    @Nullable FleetMemory memory) {

  /** What a client must know that has this node among others. */
  public enum Trait {
    /** It belongs to a cluster, which moves keys and fails over by itself: no independent node. */
    CLUSTER_MEMBER,
    /** A restart loses all that it has granted, so that it needs the quarantine. */
    FORGETFUL,
    /** Its identity is its name only, so that one store under two names would be two votes. */
    UNIDENTIFIED
  }

  /** Whether a node may vote. */
  public enum State {
    /** It votes. */
    VOTING,
    /** It has no record of the fleet: it is new, or it has forgotten everything. */
    UNMARKED,
    /** Its record is of an earlier run: it was restarted and may have forgotten the latest. */
    RESTARTED,
    /** Its record is another one than the client has seen, which must look again. */
    CHANGED,
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

  /** A status of a node that keeps no records. */
  public NodeStatus(
      State state,
      Optional<String> identity,
      String detail,
      Duration remaining,
      List<String> warnings,
      Set<Trait> traits) {
    this(state, identity, detail, remaining, warnings, traits, null);
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

  /** A node that votes, and tells nothing of its store: it is known by its own name only. */
  public static NodeStatus unidentified(String name) {
    return new NodeStatus(
        State.VOTING, Optional.of(name), "", Duration.ZERO, List.of(), Set.of(Trait.UNIDENTIFIED));
  }

  /** A node that cannot be reached. */
  public static NodeStatus unreachable(String detail) {
    return new NodeStatus(State.UNREACHABLE, Optional.empty(), detail, Duration.ZERO, List.of());
  }

  /** A node that keeps records, and can be reached. */
  public static NodeStatus remembering(
      String identity, List<String> warnings, Set<Trait> traits, FleetMemory memory) {
    NodeStatus status =
        new NodeStatus(
            State.VOTING, Optional.of(identity), "", Duration.ZERO, warnings, traits, memory);
    return status.in(memory.directory().isEmpty() ? "" : memory.directory().firstKey());
  }

  /**
   * The status in one fleet. A node that keeps no records has the same one in all.
   *
   * @param key the key of the fleet's record
   */
  public NodeStatus in(String key) {
    if (memory == null || state == State.UNFIT || state == State.UNREACHABLE) {
      return this;
    }
    String since = memory.upSince().isEmpty() ? "" : "; up since " + memory.upSince();
    FleetRecord record = memory.record(key).orElse(null);
    if (record == null) {
      return with(State.UNMARKED, "it is new, or has forgotten everything" + since, Duration.ZERO);
    }
    String at = memory.upSince().isEmpty() ? "" : "at " + memory.upSince();
    if (!record.run().equals(memory.run())) {
      return with(
          State.RESTARTED,
          at + (at.isEmpty() ? "" : "; ") + "it may have forgotten the latest",
          Duration.ZERO);
    }
    long left = record.fromMillis() - memory.clockMillis();
    if (left <= 0) {
      return with(State.VOTING, "", Duration.ZERO);
    }
    boolean unread = record.isUnread(memory.clockMillis());
    return with(
        State.QUARANTINED,
        (record.why().equals(FleetRecord.RESTARTED)
                ? "restarted " + at
                : "it had forgotten everything" + since)
            + (unread ? "; then the counters of a majority have to be read" : ""),
        Duration.ofMillis(unread ? Math.max(0, left - FleetChange.UNTIL_READ_MILLIS) : left));
  }

  /**
   * The status in the fleet of so many nodes that the server serves, or in none if there is none.
   */
  public NodeStatus among(int nodes) {
    return memory == null
        ? this
        : in(
            memory.records().stream()
                .filter(record -> record.size() == nodes)
                .map(FleetRecord::key)
                .findFirst()
                .orElse(""));
  }

  /** The same node in another state. */
  public NodeStatus with(State other, String why, Duration left) {
    return new NodeStatus(other, identity, why, left, warnings, traits, memory);
  }

  /**
   * What a client is told whose request was not run for its record's sake: to look again, if the
   * record is another one than it has seen, or would let the node vote by now.
   *
   * @param same whether the record is the one that the client has seen
   */
  public NodeStatus asRefusal(boolean same) {
    return state == State.VOTING || (state == State.QUARANTINED && !same)
        ? with(State.CHANGED, "", Duration.ZERO)
        : this;
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
          case UNMARKED -> "without a record of the fleet";
          case RESTARTED -> "restarted";
          case CHANGED -> "with another record than was seen";
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
