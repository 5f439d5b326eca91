package dev.lukko.redlock;

/**
 * The fencing token, from the counters of a quorum of grants. Pure.
 *
 * <p>It is the highest of them. If a quorum replied this very number, it is settled: one round
 * trip. Otherwise the nodes that replied another one, or nothing yet, are asked to agree to it. Two
 * successful acquisitions share a node at which both numbers were in force, one after the other,
 * and a node's counter only rises; hence the later token is higher, whatever the clocks say. (Of
 * two readers it is not lower: they may have one number together.)
 *
 * @param settled whether {@code number} is the token already
 * @param number the token, or the number to confirm
 */
record TokenSettlement(boolean settled, long number) {

  /**
   * Judges the counters of the grants that are in, at least a quorum of them.
   *
   * @param counters by node; zero where there is none
   * @param electorate of which nodes the grants are
   */
  static TokenSettlement of(long[] counters, Electorate electorate) {
    long max = 0;
    for (long counter : counters) {
      max = Math.max(max, counter);
    }
    long highest = max;
    return new TokenSettlement(electorate.isMajority(node -> counters[node] == highest), highest);
  }
}
