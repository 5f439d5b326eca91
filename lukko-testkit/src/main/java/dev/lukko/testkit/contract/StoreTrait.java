package dev.lukko.testkit.contract;

/**
 * What a store can do, or can have done to it in a test. The tests that need what a store does not
 * declare are reported as skipped, with the reason.
 *
 * @see StoreUnderTest#traits()
 */
public enum StoreTrait {
  /** One request may name several resources, of any names. */
  SEVERAL_RESOURCES("a request names one resource only"),
  /** {@link StoreUnderTest#openNode(String)} opens nodes on it under any name. */
  NAMES_NODES("its nodes cannot be named"),
  /** A refusal and an inspection say who holds, and for how long yet. */
  TELLS_HOLDER("the node does not tell who holds a resource"),
  /**
   * Its clock is moved on by {@link StoreUnderTest#moveClock}, and stands still between two moves:
   * expiry is then tested to the millisecond.
   */
  MOVES_CLOCK("the store's clock cannot be moved"),
  /** Its counters can be overwritten by {@link StoreUnderTest#setCounter}. */
  SETS_COUNTER("the store's counters cannot be overwritten"),
  /** {@link StoreUnderTest#restart} starts it anew with what it has kept. */
  RESTARTS("the store cannot be restarted"),
  /** {@link StoreUnderTest#forget} takes from it all that it has stored. */
  FORGETS("the store cannot forget"),
  /** Single messages are lost by {@link StoreUnderTest#loseRequest} and its like. */
  LOSES_MESSAGES("no message to the store can be lost"),
  /** It is stopped by {@link StoreUnderTest#hang}, and goes on with what it was sent meanwhile. */
  HANGS("the store cannot hang"),
  /** {@link StoreUnderTest#connections} counts who is connected. */
  COUNTS_CONNECTIONS("the store's connections cannot be counted");

  private final String lack;

  StoreTrait(String lack) {
    this.lack = lack;
  }

  /** Why a test is skipped for a store without this trait. */
  String lack() {
    return "not declared: " + name() + " (" + lack + ")";
  }
}
