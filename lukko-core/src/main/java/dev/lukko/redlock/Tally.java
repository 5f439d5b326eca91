package dev.lukko.redlock;

import org.jspecify.annotations.Nullable;

/**
 * The votes of a round, as numbers, and what they decide. Pure.
 *
 * <p>While the set of nodes changes there are two tallies, one for each set, and both must be won.
 *
 * @param nodes how many nodes have a vote
 * @param yes how many did what they were asked
 * @param no how many gave a proper answer other than that
 * @param faults how many failed, did not answer in time, or are not known to the client
 * @param next the votes of the set that this one changes to, or null
 */
record Tally(int nodes, int yes, int no, int faults, @Nullable Tally next) {

  /** The votes of a set that does not change. */
  Tally(int nodes, int yes, int no, int faults) {
    this(nodes, yes, no, faults, null);
  }

  /** The quorum of {@code nodes} nodes: more than half. */
  static int quorumOf(int nodes) {
    return nodes / 2 + 1;
  }

  int quorum() {
    return quorumOf(nodes);
  }

  int outstanding() {
    return nodes - yes - no - faults;
  }

  /** The votes of the set that counts now alone. */
  Tally ofPresentSet() {
    return next == null ? this : new Tally(nodes, yes, no, faults);
  }

  /** A quorum said yes. */
  boolean won() {
    return yes >= quorum() && (next == null || next.won());
  }

  /** The votes that are out cannot make a quorum any more. */
  boolean lost() {
    return yes + outstanding() < quorum() || (next != null && next.lost());
  }

  boolean decided() {
    return won() || lost();
  }

  /** So many failed that no quorum of proper answers can be had, whatever they say. */
  boolean unreachable() {
    return faults > nodes - quorum() || (next != null && next.unreachable());
  }

  /** So many said no that a quorum is out of reach, whatever the failed ones would have said. */
  boolean refuted() {
    return no > nodes - quorum() || (next != null && next.refuted());
  }

  /** Whether any node said no. */
  boolean anyNo() {
    return no > 0 || (next != null && next.no > 0);
  }

  /** Whether any node failed. */
  boolean anyFault() {
    return faults > 0 || (next != null && next.faults > 0);
  }
}
