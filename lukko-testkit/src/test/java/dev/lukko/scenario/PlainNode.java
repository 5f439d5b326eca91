package dev.lukko.scenario;

import dev.lukko.spi.Capability;
import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.Inspection;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.ReleaseReply;
import java.util.Set;
import java.util.concurrent.CompletionStage;

/** A node that can do no more than an exclusive lock: the plainest store. */
public class PlainNode implements LockNode {
  protected final LockNode node;

  protected PlainNode(LockNode node) {
    this.node = node;
  }

  @Override
  public String name() {
    return node.name();
  }

  @Override
  public Set<Capability> capabilities() {
    return Set.of();
  }

  @Override
  public CompletionStage<GrantReply> grant(GrantRequest request) {
    return node.grant(request);
  }

  @Override
  public CompletionStage<ConfirmReply> confirm(LockEntry entry, long counter) {
    return node.confirm(entry, counter);
  }

  @Override
  public CompletionStage<ExtendReply> extend(LockEntry entry, long ttlMillis) {
    return node.extend(entry, ttlMillis);
  }

  @Override
  public CompletionStage<ExtendReply> repair(LockEntry entry, long ttlMillis, long counter) {
    return node.repair(entry, ttlMillis, counter);
  }

  @Override
  public CompletionStage<ReleaseReply> release(LockEntry entry) {
    return node.release(entry);
  }

  @Override
  public CompletionStage<NodeStatus> status() {
    return node.status();
  }

  @Override
  public CompletionStage<NodeStatus> admit(NodeStatus seen, long quarantineMillis) {
    return node.admit(seen, quarantineMillis);
  }

  @Override
  public CompletionStage<Inspection> inspect(String resource) {
    return node.inspect(resource);
  }

  @Override
  public void close() {
    node.close();
  }
}
