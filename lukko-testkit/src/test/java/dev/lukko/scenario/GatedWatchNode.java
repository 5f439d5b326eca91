package dev.lukko.scenario;

import dev.lukko.memory.InMemoryNode;
import dev.lukko.spi.Capability;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A node at which the end of a watch can be stopped: the middle of a grant, seen from outside. */
final class GatedWatchNode extends PlainNode {
  private final InMemoryNode store;
  private final CountDownLatch somebody = new CountDownLatch(1);
  private final CountDownLatch gate = new CountDownLatch(1);
  private volatile boolean shut;

  GatedWatchNode(InMemoryNode store) {
    super(store);
    this.store = store;
  }

  void shut() {
    shut = true;
  }

  void open() {
    gate.countDown();
  }

  void awaitSomebody() throws InterruptedException {
    if (!somebody.await(20, TimeUnit.SECONDS)) {
      throw new AssertionError("nobody ends a watch");
    }
  }

  boolean isHeld(String resource) {
    return store.isHeld(resource);
  }

  @Override
  public Set<Capability> capabilities() {
    return Set.of(Capability.WATCH);
  }

  @Override
  public Watch watch(String resource, Runnable hint) {
    Watch watch = store.watch(resource, hint);
    return () -> {
      watch.close();
      if (shut) {
        somebody.countDown();
        try {
          if (!gate.await(20, TimeUnit.SECONDS)) {
            throw new AssertionError("the gate was never opened");
          }
        } catch (InterruptedException interrupt) {
          Thread.currentThread().interrupt();
        }
      }
    };
  }
}
