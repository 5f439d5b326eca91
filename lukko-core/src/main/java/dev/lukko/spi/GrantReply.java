package dev.lukko.spi;

import dev.lukko.Holder;

/** A node's answer to a {@link GrantRequest}. */
public sealed interface GrantReply permits GrantReply.Granted, GrantReply.Refused, NodeFault {

  /**
   * The node holds the entry for this owner now.
   *
   * @param counter the node's counter after this grant; for a repeated request of the same owner
   *     the number that it got the first time. With several resources, the one number of all
   */
  record Granted(long counter) implements GrantReply {}

  /**
   * The node holds an entry of somebody else, and has changed nothing.
   *
   * @param counter the node's counter, zero if it has none; with several resources the highest
   * @param holder who holds the first resource that was found held. Its remaining time is when this
   *     node may grant, as far as it knows
   */
  record Refused(long counter, Holder holder) implements GrantReply {}
}
