package dev.lukko;

import dev.lukko.text.Printable;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Whether a client's nodes are well, as they answered when they were asked.
 *
 * @param nodes each node, in the order of the nodes
 */
public record ClientHealth(List<Node> nodes) {

  public ClientHealth {
    nodes = List.copyOf(nodes);
  }

  /**
   * One node.
   *
   * @param name the node's name
   * @param state whether it votes
   * @param latency how long its answer took; empty if there was none
   * @param detail why it does not vote; may be empty
   * @param warnings what makes the node less safe than it could be, each with its consequence
   */
  public record Node(
      String name, State state, Optional<Duration> latency, String detail, List<String> warnings) {

    public Node {
      detail = Printable.of(detail);
      warnings = warnings.stream().map(Printable::of).toList();
    }
  }

  /** Whether a node votes. */
  public enum State {
    /** It votes. */
    VOTING,
    /** It is new, or was restarted; the next request decides from when on it votes. */
    AWAITING_ADMISSION,
    /** It may have forgotten what it granted, and does not vote until that must have ended. */
    QUARANTINED,
    /** It must never vote: a replica, for example. */
    INCOMPATIBLE,
    /** It did not answer in time. */
    UNREACHABLE
  }

  /** How many nodes are a quorum. */
  public int quorum() {
    return nodes.size() / 2 + 1;
  }

  /** How many nodes vote. */
  public int voting() {
    return (int) nodes.stream().filter(node -> node.state() == State.VOTING).count();
  }

  /**
   * How many of the voting nodes can fail before nothing can be granted; negative if nothing can be
   * granted now.
   */
  public int margin() {
    return voting() - quorum();
  }

  /** Whether a quorum of the nodes votes, so that locks can be granted. */
  public boolean isAvailable() {
    return margin() >= 0;
  }
}
