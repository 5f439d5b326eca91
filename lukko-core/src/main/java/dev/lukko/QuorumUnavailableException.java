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
    super(
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
}
