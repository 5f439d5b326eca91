package dev.lukko;

/** Why a lease was lost. */
public enum LossReason {
  /** Its validity ended and no extension had succeeded in time. */
  EXPIRED("its validity ended before it was extended or released"),
  /** Nodes answered that another owner holds the resource. */
  TAKEN_OVER("nodes answered that another owner holds the resource"),
  /** Nodes answered that they hold no entry of this lease. */
  NOT_HELD("nodes answered that they hold no entry of this lease"),
  /** The database session that held the lock has ended, or the connection to it was lost. */
  SESSION_ENDED("the database session that held the lock has ended"),
  /** The longest hold time that the request allowed was reached. */
  MAX_HOLD_REACHED("the maximum hold time of the request was reached"),
  /** The client was closed and let the lease go. */
  CLIENT_CLOSED("the client was closed"),
  /** The process, or the whole machine, stood still past the end of the validity. */
  PAUSE_DETECTED("the process was paused past the end of the validity"),
  /**
   * Its holder released it. Never signalled as a loss; only the reason in the error of a call that
   * needs a live lease.
   */
  RELEASED("it was released by its holder");

  private final String explanation;

  LossReason(String explanation) {
    this.explanation = explanation;
  }

  /** The reason as a clause that fits after "lost: ". */
  public String explanation() {
    return explanation;
  }
}
