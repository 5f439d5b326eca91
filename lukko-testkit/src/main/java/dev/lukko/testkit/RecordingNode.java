package dev.lukko.testkit;

import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.ForwardingNode;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.LockNode;
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
final class RecordingNode extends ForwardingNode {
  private final Set<String> resources = ConcurrentHashMap.newKeySet();
  private final AtomicInteger openWatches = new AtomicInteger();

  RecordingNode(LockNode node) {
    super(node);
  }

  Set<String> resources() {
    return new TreeSet<>(resources);
  }

  int openWatches() {
    return openWatches.get();
  }

  void closeNode() {
    super.close();
  }

  @Override
  public CompletionStage<GrantReply> grant(GrantRequest request) {
    resources.addAll(request.entry().resources());
    return super.grant(request);
  }

  @Override
  public CompletionStage<ExtendReply> repair(
      LockEntry entry, long ttlMillis, long counter, long lastMillis) {
    resources.addAll(entry.resources());
    return super.repair(entry, ttlMillis, counter, lastMillis);
  }

  @Override
  public Watch watch(String resource, Runnable hint) {
    openWatches.incrementAndGet();
    Watch watch = super.watch(resource, hint);
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
}
