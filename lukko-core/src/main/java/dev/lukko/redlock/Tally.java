package dev.lukko.redlock;

/**
 * The votes of a round, as numbers, and what they decide. Pure.
 *
 * @param nodes how many nodes were asked
 * @param yes how many did what they were asked
 * @param no how many gave a proper answer other than that
 * @param faults how many failed, or did not answer in time
 */
record Tally(int nodes, int yes, int no, int faults) {

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

  /** A quorum said yes. */
  boolean won() {
    return yes >= quorum();
  }

  /** The votes that are out cannot make a quorum any more. */
  boolean lost() {
    return yes + outstanding() < quorum();
  }

  boolean decided() {
    return won() || lost();
  }

  /** So many failed that no quorum of proper answers can be had, whatever they say. */
  boolean unreachable() {
    return faults > nodes - quorum();
  }

  /** So many said no that a quorum is out of reach, whatever the failed ones would have said. */
  boolean refuted() {
    return no > nodes - quorum();
  }
}
