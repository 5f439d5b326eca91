package dev.lukko.redlock;

import dev.lukko.spi.LockEntry;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.ReleaseReply;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The releases of one round's entry, node by node.
 *
 * <p>They are remembered for the grants that come late: an entry that a release has found and
 * deleted is gone for good, since its grant was sent once. Any other answer may mean that the
 * release came before the grant, and then it is sent again; so it is where a repair had put the
 * entry, for then the release may have deleted what the repair left, ahead of the grant.
 */
final class EntryRelease {
  private final List<LockNode> nodes;
  private final LockEntry entry;
  private final AtomicReferenceArray<@Nullable CompletionStage<ReleaseReply>> sent;
  private final AtomicIntegerArray repaired;
  private volatile boolean beginning;

  EntryRelease(List<LockNode> nodes, LockEntry entry) {
    this.nodes = nodes;
    this.entry = entry;
    this.sent = new AtomicReferenceArray<>(nodes.size());
    this.repaired = new AtomicIntegerArray(nodes.size());
  }

  /** A repair puts the entry on this node, besides the grant that was sent to it. */
  void onRepair(int node) {
    repaired.set(node, 1);
  }

  /**
   * From now on the entry is not wanted, and is about to be released at all nodes. A grant that
   * comes before the release has gone to its node needs none of its own: the release is behind it.
   */
  void begin() {
    beginning = true;
  }

  /** Releases the entry at one node. */
  CompletionStage<ReleaseReply> send(int node) {
    return send(node, null);
  }

  /** The same; with a patience, in this thread if the node likes to. */
  CompletionStage<ReleaseReply> send(int node, @Nullable Patience patience) {
    CompletionStage<ReleaseReply> reply =
        patience == null
            ? nodes.get(node).release(entry)
            : nodes.get(node).releaseInCaller(entry, patience.leftNanos());
    sent.set(node, reply);
    return reply;
  }

  /** Sends a release to all nodes and waits for none; a node keeps what it cannot send. */
  void sendToAll() {
    for (int i = 0; i < nodes.size(); i++) {
      send(i);
    }
  }

  /** A node has granted the entry, or may have, when nobody wanted it any more. */
  void onUnwantedGrant(int node) {
    CompletionStage<ReleaseReply> earlier = sent.get(node);
    if (earlier == null) {
      if (!beginning) {
        send(node);
      }
      return;
    }
    earlier.whenComplete(
        (reply, failure) -> {
          if (!(reply instanceof ReleaseReply.Released) || repaired.get(node) == 1) {
            send(node);
          }
        });
  }
}
