package dev.lukko.spi;

/** A node's answer to {@link LockNode#confirm}. */
public sealed interface ConfirmReply
    permits ConfirmReply.Confirmed, ConfirmReply.Higher, ConfirmReply.NotHeld, NodeFault {

  /** The owner holds the entry, and the counters are at the number that was asked for. */
  record Confirmed() implements ConfirmReply {}

  /**
   * The owner holds the entry, but a counter was at or above the number; nothing has changed.
   *
   * @param counter the highest counter
   */
  record Higher(long counter) implements ConfirmReply {}

  /** The owner does not hold the entry; nothing has changed. */
  record NotHeld() implements ConfirmReply {}
}
