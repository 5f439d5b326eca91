package dev.lukko.testkit.sim;

/** Which kinds of faults a history has, and so what can be expected of it. */
enum Weather {
  /** No fault: nothing may fail. */
  CALM(true),
  /** Pauses, crashes of clients, lost, late and repeated messages, partitions, nodes that hang. */
  STORMY(true),
  /** The same, and a minority of nodes that restart empty. */
  FORGETFUL(true),
  /** The same as stormy, and nodes whose clocks jump: two holders are possible. */
  LYING(false),
  /** A majority restarts empty. Only a strict client keeps mutual exclusion then. */
  AMNESIA(false);

  private final boolean excludes;

  Weather(boolean excludes) {
    this.excludes = excludes;
  }

  /** Whether at most one lease may be valid at a time. */
  boolean excludes() {
    return excludes;
  }

  boolean losesMajority() {
    return this == AMNESIA;
  }
}
