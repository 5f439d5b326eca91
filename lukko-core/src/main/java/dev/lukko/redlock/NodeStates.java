package dev.lukko.redlock;

import dev.lukko.LockEvent;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeFault;
import dev.lukko.spi.NodeStatus;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Which nodes take part, as the client's own requests found them; tells the listeners of changes.
 */
final class NodeStates {
  private final Events events;
  private final Map<String, Boolean> available = new HashMap<>();

  NodeStates(Events events) {
    this.events = events;
  }

  /**
   * Takes note of the replies of a round, in the order of the nodes; null where there is none yet.
   */
  void saw(List<LockNode> nodes, List<@Nullable GrantReply> replies) {
    for (int i = 0; i < nodes.size(); i++) {
      GrantReply reply = replies.get(i);
      if (reply != null) {
        saw(nodes.get(i), reply);
      }
    }
  }

  void saw(LockNode node, GrantReply reply) {
    if (reply instanceof NodeFault fault) {
      record(node.name(), false, fault.detail());
    } else {
      record(node.name(), true, "it answers");
    }
  }

  void saw(LockNode node, NodeStatus status) {
    record(node.name(), status.state() == NodeStatus.State.VOTING, status.describe());
  }

  private void record(String node, boolean takesPart, String detail) {
    if (!events.isHeard()) {
      return;
    }
    Boolean before;
    synchronized (this) {
      before = available.put(node, takesPart);
    }
    boolean expected = before == null || before;
    if (takesPart != expected) {
      events.emit(() -> new LockEvent.NodeStateChanged(node, takesPart, detail));
    }
  }
}
