package dev.lukko.testkit;

import dev.lukko.spi.Capability;
import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.FairTicket;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.Inspection;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.ReleaseReply;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A node that remembers which names it was asked to hold and how many watches are open on it, so
 * that somebody can look afterwards whether anything is left. Closing it leaves the node behind it
 * open: {@link #closeNode} is for that.
 */
final class RecordingNode implements LockNode {
  private final LockNode node;
  private final Set<String> resources = ConcurrentHashMap.newKeySet();
  private final AtomicInteger openWatches = new AtomicInteger();

  RecordingNode(LockNode node) {
    this.node = node;
  }

  Set<String> resources() {
    return new TreeSet<>(resources);
  }

  int openWatches() {
    return openWatches.get();
  }

  void closeNode() {
    node.close();
  }

  @Override
  public String name() {
    return node.name();
  }

  @Override
  public Set<Capability> capabilities() {
    return node.capabilities();
  }

  @Override
  public CompletionStage<GrantReply> grant(GrantRequest request) {
    resources.addAll(request.entry().resources());
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
    resources.addAll(entry.resources());
    return node.repair(entry, ttlMillis, counter);
  }

  @Override
  public CompletionStage<ReleaseReply> release(LockEntry entry) {
    return node.release(entry);
  }

  @Override
  public void leave(LockEntry entry, FairTicket ticket) {
    node.leave(entry, ticket);
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
  public Watch watch(String resource, Runnable hint) {
    openWatches.incrementAndGet();
    Watch watch = node.watch(resource, hint);
    Set<Watch> once = ConcurrentHashMap.newKeySet();
    once.add(watch);
    return () -> {
      if (once.remove(watch)) {
        openWatches.decrementAndGet();
      }
      watch.close();
    };
  }

  @Override
  public void close() {}

  @Override
  public String toString() {
    return "RecordingNode[" + node.name() + "]";
  }
}
