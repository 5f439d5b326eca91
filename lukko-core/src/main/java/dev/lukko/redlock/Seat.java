package dev.lukko.redlock;

import dev.lukko.spi.NodeStatus;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The place of one node in the client's fleet, as the client has last seen it.
 *
 * @param seen what a request to it carries; null if its vote does not count now
 * @param self its id in the fleet, or the one that it had when it last had one; empty if none
 * @param status what the node last told of itself
 */
record Seat(@Nullable String seen, String self, NodeStatus status) {

  /** A node of which nothing is known yet. */
  static Seat unknown(NodeStatus status) {
    return new Seat(null, "", status);
  }

  /** The same place of a node that cannot be reached at present. */
  Seat unreachable(NodeStatus now) {
    return new Seat(seen, self, now);
  }

  /** The same node, whose vote does not count now. */
  Seat barred(NodeStatus now) {
    return new Seat(null, self, now);
  }

  /** Whether nobody has seen yet which server this node is. */
  boolean isUnknown() {
    return seen == null && status.identity().isEmpty();
  }

  /** The server that the node was when it was last seen. */
  Optional<String> identity() {
    return status.identity();
  }
}
