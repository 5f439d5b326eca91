package dev.lukko.scenario;

import dev.lukko.spi.Capability;
import dev.lukko.spi.FairTicket;
import dev.lukko.spi.ForwardingNode;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.LockNode;
import java.util.Set;

/** A node that can do no more than an exclusive lock: the plainest store. */
class PlainNode extends ForwardingNode {
  PlainNode(LockNode node) {
    super(node);
  }

  @Override
  public Set<Capability> capabilities() {
    return Set.of();
  }

  @Override
  public void leave(LockEntry entry, FairTicket ticket) {}

  @Override
  public Watch watch(String resource, Runnable hint) {
    return () -> {};
  }
}
