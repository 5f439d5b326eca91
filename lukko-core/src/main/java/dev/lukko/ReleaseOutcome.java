package dev.lukko;

import java.util.List;
import java.util.stream.Collectors;

/**
 * What a release came to, with each node's answer as far as it was known when the outcome became
 * certain.
 *
 * @param status the outcome
 * @param answers one answer for each node, in the order of the nodes; a node that had not answered
 *     yet is {@link NodeAnswer.Kind#PENDING}
 */
public record ReleaseOutcome(Status status, List<NodeAnswer> answers) {

  public ReleaseOutcome {
    answers = List.copyOf(answers);
  }

  /** The three ways in which a release ends. */
  public enum Status {
    /** A quorum of the nodes held the entry and has deleted it. */
    RELEASED,
    /**
     * The lease was no longer held: it had expired, or a quorum did not have its entry, for each of
     * its names.
     */
    NOT_HELD,
    /** Too many nodes could not be reached; entries that remain end by their ttl. */
    UNKNOWN
  }

  /** The outcome and the nodes' answers on one line. */
  public String describe() {
    return status
        + answers.stream().map(NodeAnswer::toString).collect(Collectors.joining("; ", " [", "]"));
  }
}
