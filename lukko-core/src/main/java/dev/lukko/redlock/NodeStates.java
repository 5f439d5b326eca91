package dev.lukko.redlock;

import dev.lukko.LockEvent;
import dev.lukko.lease.Events;
import dev.lukko.spi.Failed;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeFault;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.NotVoting;
import dev.lukko.spi.Unknown;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Which nodes take part, as the client's own requests found them; tells the listeners of changes,
 * also when a node that does not take part has another reason for it by now.
 */
final class NodeStates {
  private static final String NONE = "";

  private final Events events;

  /** By node, the kind of its fault; {@link #NONE} if it takes part. */
  private final Map<String, String> faults = new HashMap<>();

  NodeStates(Events events) {
    this.events = events;
  }

  /** Whether there is anybody to tell. */
  boolean isHeard() {
    return events.isHeard();
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
      String kind = kindOf(fault);
      if (!kind.equals(Failed.WITHDRAWN)) {
        record(node.name(), kind, fault.detail());
      }
    } else {
      record(node.name(), NONE, "it answers");
    }
  }

  /** Something about a node weakens what is promised. */
  void warned(LockNode node, String warning) {
    events.emit(() -> new LockEvent.NodeWarned(node.name(), warning));
  }

  /** A server serves another fleet, too. */
  void overlap(FleetPlan.Overlap overlap) {
    events.emit(
        () ->
            new LockEvent.FleetsOverlap(
                overlap.node(),
                overlap.own().fleet(),
                overlap.own().size(),
                overlap.other().fleet(),
                overlap.other().size(),
                overlap.describe()));
  }

  /** The fleet has other nodes than the client lists. */
  void differs(FleetPlan.Difference difference) {
    events.emit(
        () ->
            new LockEvent.NodesDiffer(
                difference.own().fleet(),
                difference.own().size(),
                difference.nodes(),
                difference.lacking(),
                difference.surplus(),
                difference.describe()));
  }

  void saw(LockNode node, NodeStatus status) {
    boolean votes = status.state() == NodeStatus.State.VOTING;
    record(node.name(), votes ? NONE : status.state().name(), status.describe());
  }

  /** A coarse kind: the same fault in changing words, or now late and now lost, is no news. */
  private static String kindOf(NodeFault fault) {
    if (fault instanceof NotVoting notVoting) {
      return notVoting.status().state().name();
    }
    if (fault instanceof Unknown) {
      return "unknown";
    }
    int colon = fault.detail().indexOf(':');
    return colon < 0 ? fault.detail() : fault.detail().substring(0, colon);
  }

  private void record(String node, String fault, String detail) {
    if (!events.isHeard()) {
      return;
    }
    String before;
    synchronized (this) {
      before = faults.put(node, fault);
    }
    boolean takesPart = fault.equals(NONE);
    if (!fault.equals(before == null ? NONE : before)) {
      events.emit(() -> new LockEvent.NodeStateChanged(node, takesPart, detail));
    }
  }
}
