package dev.lukko.testkit.sim;

/** What a history is checked for. */
public enum Check {
  /** No two granted acquisitions share a token. */
  F1("two acquisitions share a token"),
  /** An acquisition that began after another was granted has a larger token. */
  F2("a token does not follow the order of the grants"),
  /** What the fenced resource accepts never goes down, and each token is one acquisition's. */
  F3("the resource accepted a stale token"),
  /** Nothing of another acquisition is granted over, released, extended or used again. */
  F4("an acquisition touched another one"),
  /** The remaining time is never more than what a quorum of nodes really keeps. */
  F5("the remaining time is more than the nodes keep"),
  /** Two leases are never valid at the same time, where clocks keep their bound. */
  M("two leases were valid at the same time"),
  /** A lost lease stays lost, and its loss is told in time, once. */
  LOSS("the loss of a lease was not told as it must be"),
  /** A release says what it did. */
  OUTCOME("a release did not do what it said"),
  /** Every call ends inside its bound. */
  BOUND("a call did not end inside its bound"),
  /** Without faults nothing fails and nothing is lost. */
  CALM("something failed although there was no fault"),
  /** A free lock is granted soon after the faults are over. */
  LIVENESS("a free lock was not granted"),
  /** A node that forgot votes only when nothing that it granted can be valid. */
  QUARANTINE("a node that forgot voted too early"),
  /** No entry, no timer, no task and no watch is left. */
  NOTHING_LEFT("something is left behind"),
  /** A kept release is sent again in its turn, and not while it is on its way. */
  REPEATED("a release was not repeated as it must be"),
  /** Nothing is thrown where nobody can catch it. */
  NO_THROW("an exception was thrown into a timer or a reply");

  private final String broken;

  Check(String broken) {
    this.broken = broken;
  }

  /** What it means when this check fails, as a clause. */
  public String broken() {
    return broken;
  }
}
