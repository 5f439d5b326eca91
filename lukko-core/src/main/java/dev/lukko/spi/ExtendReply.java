package dev.lukko.spi;

import dev.lukko.Holder;

/** A node's answer to {@link LockNode#extend} and {@link LockNode#repair}. */
public sealed interface ExtendReply
    permits ExtendReply.Extended, ExtendReply.Missing, ExtendReply.HeldByOther, NodeFault {

  /** The owner holds all resources, and the entry lives for the ttl from now on. */
  record Extended() implements ExtendReply {}

  /**
   * At least one resource has no entry, and none has another's; nothing has changed. To a repair it
   * also says that its last moment was over.
   *
   * @param atMillis when the store looked, by its own clock, in milliseconds from an origin of its
   *     own: what the last moment of a repair is counted from
   */
  record Missing(long atMillis) implements ExtendReply {}

  /**
   * Another owner holds at least one of the resources; nothing has changed.
   *
   * @param holder who
   */
  record HeldByOther(Holder holder) implements ExtendReply {}
}
