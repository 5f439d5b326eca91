package dev.lukko.spi;

/** A node's answer to {@link LockNode#release}. */
public sealed interface ReleaseReply
    permits ReleaseReply.Released, ReleaseReply.NotHeld, NodeFault {

  /**
   * The owner held all of the resources, and holds none now.
   *
   * @param watchers how many clients watch one of the resources and were given a hint, as far as
   *     the node knows; zero if it does not
   */
  record Released(int watchers) implements ReleaseReply {
    /** A release of which the node does not know whether anybody was told. */
    public Released() {
      this(0);
    }
  }

  /**
   * The owner did not hold all of the resources: its exclusion had ended. It holds none of them
   * now.
   */
  record NotHeld() implements ReleaseReply {}
}
