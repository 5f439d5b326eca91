package dev.lukko.spi;

/** A node's answer to {@link LockNode#release}. */
public sealed interface ReleaseReply
    permits ReleaseReply.Released, ReleaseReply.NotHeld, NodeFault {

  /** The owner held at least one of the resources, and holds none now. */
  record Released() implements ReleaseReply {}

  /** The owner held none of the resources. */
  record NotHeld() implements ReleaseReply {}
}
