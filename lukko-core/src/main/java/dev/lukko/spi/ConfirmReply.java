package dev.lukko.spi;

/** A node's answer to {@link LockNode#confirm}. */
public sealed interface ConfirmReply
    permits ConfirmReply.Confirmed, ConfirmReply.Higher, ConfirmReply.NotHeld, NodeFault {

  /** The owner holds the entry, and the counters are at the number that was asked for, or above. */
  record Confirmed() implements ConfirmReply {}

  /**
   * The owner holds the entry, but its grant here got a higher number; nothing has changed.
   *
   * @param counter the lowest number to which this node agrees: for an exclusive entry the highest
   *     counter, for a shared one the number of its grant
   */
  record Higher(long counter) implements ConfirmReply {}

  /** The owner does not hold the entry; nothing has changed. */
  record NotHeld() implements ConfirmReply {}
}
