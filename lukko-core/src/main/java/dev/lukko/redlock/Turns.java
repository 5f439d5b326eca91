package dev.lukko.redlock;

/**
 * Turns of one client among those that wait for one lock. Not thread-safe.
 *
 * <p>Hints reach the clients always in the same order, and the first to hear would win every time.
 * So after a win a client lets each other one go first, which it does by holding back a step for
 * each that has not had its turn yet. Whose turn it is asks at once, so that a lock which is passed
 * around loses no time; now and then it lets one pass nevertheless, for a client that has waited
 * even longer and hears of it later.
 */
final class Turns {
  private static final double ODDS_OF_LETTING_PASS = 1.0 / 16;

  private int others;
  private int lost;

  /** How many other clients wait, as a node has told. */
  void others(int clients) {
    others = clients;
  }

  /**
   * How many steps to hold back after a hint.
   *
   * @param random a random number from 0 (inclusive) to 1 (exclusive)
   */
  int toLetPass(double random) {
    if (lost < others) {
      return others - lost;
    }
    return lost == others && others > 0 && random < ODDS_OF_LETTING_PASS ? 1 : 0;
  }

  /** How the round ended that a hint had begun: whether it won, or another client was faster. */
  void ended(boolean won) {
    lost = won ? 0 : lost + 1;
  }
}
