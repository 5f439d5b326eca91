package dev.lukko.own;

import dev.lukko.spi.ForwardingNode;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeFault;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.LongAdder;

/** The example of the guide on adding something to a node. */
// begin counting-node
final class CountingNode extends ForwardingNode {
  private final LongAdder faults = new LongAdder();

  CountingNode(LockNode node) {
    super(node);
  }

  long faults() {
    return faults.sum();
  }

  @Override
  public CompletionStage<GrantReply> grant(GrantRequest request) {
    return super.grant(request).thenApply(this::counted);
  }

  private GrantReply counted(GrantReply reply) {
    if (reply instanceof NodeFault) {
      faults.increment();
    }
    return reply;
  }
}
// end counting-node
