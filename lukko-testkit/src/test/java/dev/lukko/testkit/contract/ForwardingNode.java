package dev.lukko.testkit.contract;

import dev.lukko.scenario.PlainNode;
import dev.lukko.spi.Capability;
import dev.lukko.spi.FairTicket;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.LockNode;
import java.util.Set;

/** A node that does all that another one does, save what a subclass spoils. */
class ForwardingNode extends PlainNode {
  ForwardingNode(LockNode node) {
    super(node);
  }

  @Override
  public Set<Capability> capabilities() {
    return node.capabilities();
  }

  @Override
  public void leave(LockEntry entry, FairTicket ticket) {
    node.leave(entry, ticket);
  }

  @Override
  public Watch watch(String resource, Runnable hint) {
    return node.watch(resource, hint);
  }
}
