package dev.lukko.redlock;

import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.Unknown;
import java.time.Duration;

/**
 * What the numbers in a node's answers can be. An answer outside of that comes from a broken node,
 * and is taken for an unknown outcome. Pure.
 *
 * <p>A counter in the upper half of all numbers is possible, since a client with a broken clock may
 * have proposed it, and must then be followed by all. But a single node with such a counter would
 * take all the others to the end of their numbers, so it is followed only where a quorum says the
 * like: see {@link Round#isFar}.
 */
final class Plausible {
  /** Where counters are far: clocks in microseconds get there in the year 2112. */
  static final long FAR = 1L << 52;

  private static final Duration LONGEST = Duration.ofDays(36_500);

  private Plausible() {}

  static GrantReply checked(GrantReply reply) {
    if (reply instanceof GrantReply.Granted granted) {
      return isCounter(granted.counter(), 1) ? reply : outOfRange(granted.counter(), 1);
    }
    return reply instanceof GrantReply.Refused refused && !isCounter(refused.counter(), 0)
        ? outOfRange(refused.counter(), 0)
        : reply;
  }

  /**
   * The answer to a confirmation.
   *
   * @param asked the number that was to be confirmed
   */
  static ConfirmReply checked(ConfirmReply reply, long asked) {
    return reply instanceof ConfirmReply.Higher higher && !isCounter(higher.counter(), asked + 1)
        ? outOfRange(higher.counter(), asked + 1)
        : reply;
  }

  /** A status whose remaining time can be counted. */
  static NodeStatus checked(NodeStatus status) {
    Duration remaining = status.remaining();
    if (!remaining.isNegative() && remaining.compareTo(LONGEST) <= 0) {
      return status;
    }
    return status.with(
        status.state(), status.detail(), remaining.isNegative() ? Duration.ZERO : LONGEST);
  }

  private static boolean isCounter(long counter, long lowest) {
    return counter >= lowest && counter <= GrantRequest.MAX_COUNTER;
  }

  private static Unknown outOfRange(long counter, long lowest) {
    return new Unknown(
        "COUNTER: the node answered with the counter "
            + counter
            + "; it must be from "
            + lowest
            + " to "
            + GrantRequest.MAX_COUNTER);
  }

  /** In place of an answer that is far, where no quorum says the like. */
  static String farAlone() {
    return "COUNTER: the node answered with a counter of "
        + FAR
        + " or more, which no clock before the year 2112 gives, and no quorum of nodes agrees";
  }
}
