package dev.lukko;

/**
 * Too few nodes could be reached to decide who has the lock. No lock was granted; what some nodes
 * may have granted is being released, or ends by its ttl.
 */
public final class QuorumUnavailableException extends LockNotAcquiredException {
  private static final long serialVersionUID = 1L;

  /**
   * An error for a missing quorum.
   *
   * @param attempt what was tried
   * @param quorum how many nodes are needed
   */
  public QuorumUnavailableException(Attempt attempt, int quorum) {
    this(
        "no quorum for lock "
            + attempt.resources()
            + ": "
            + attempt.answers().stream().filter(answer -> answer.kind().reached()).count()
            + " of "
            + attempt.answers().size()
            + " nodes answered, "
            + quorum
            + " needed",
        attempt);
  }

  private QuorumUnavailableException(String what, Attempt attempt) {
    super(what, attempt);
  }

  /**
   * An error for a quorum of nodes that granted the lock, too few of which then answered when they
   * were asked to agree to its fencing token.
   *
   * @param attempt what was tried, with the answers about the token
   * @param token the number that was asked for
   * @param agreed how many nodes agreed to it
   * @param quorum how many are needed
   */
  public static QuorumUnavailableException ofToken(
      Attempt attempt, long token, int agreed, int quorum) {
    return new QuorumUnavailableException(
        "no quorum for the fencing token of lock "
            + attempt.resources()
            + ", which a quorum had granted: "
            + agreed
            + " of "
            + attempt.answers().size()
            + " nodes agreed to "
            + token
            + ", "
            + quorum
            + " needed",
        attempt);
  }
}
