package dev.lukko;

import dev.lukko.fencing.InMemoryFence;
import dev.lukko.memory.InMemoryNode;
import dev.lukko.redlock.Redlock;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;

/** Code of the guide on everyday use and of the page on operation, here to be compiled. */
final class UsingSnippets {
  private final LockClient locks = Redlock.over(new InMemoryNode("memory"));
  private final InMemoryFence fence = new InMemoryFence();

  void waiting() {
    Duration ttl = Duration.ofSeconds(30);
    // begin waiting
    Lease waited = locks.acquire("report", ttl); // waits about 3 s by default, then throws
    Optional<Lease> now = locks.tryAcquire("report", ttl); // one round, never waits
    Optional<Lease> soon = locks.tryAcquire("report", ttl, Duration.ofSeconds(5));
    boolean ran = locks.tryRun("report", ttl, lease -> write(lease.fencingToken()));
    // end waiting
    use(waited, now, soon, ran);
  }

  void extending() {
    // begin extending
    LockRequest request = LockRequest.autoExtended("import", Duration.ofSeconds(10));
    try (Lease lease = locks.acquire(request)) {
      lease.onLost(reason -> stop(reason)); // in a callback thread
      for (int part = 0; part < 100; part++) {
        lease.ensureValid(); // local: compares clocks
        write(lease.fencingToken());
      }
    }
    // end extending
  }

  void asynchronous() {
    // begin async
    CompletableFuture<String> done =
        locks.usingAsync("report", Duration.ofSeconds(30), lease -> render(lease.fencingToken()));
    // end async
    done.join();
  }

  void views() throws InterruptedException {
    // begin views
    Lock lock = locks.asLock("cache", Duration.ofSeconds(10));
    if (lock.tryLock(1, TimeUnit.SECONDS)) {
      try {
        rebuild();
      } finally {
        lock.unlock(); // throws LeaseLostException if the lock was lost meanwhile
      }
    }

    ReadWriteLock catalogue = locks.asReadWriteLock("catalogue", Duration.ofSeconds(10));
    catalogue.readLock().lock();
    try {
      rebuild();
    } finally {
      catalogue.readLock().unlock();
    }

    LeasedSemaphore printers = locks.asSemaphore("printers", 3, Duration.ofSeconds(10));
    Optional<Lease> permit = printers.tryAcquire();
    permit.ifPresent(Lease::release);
    // end views
  }

  void leadership() {
    // begin leadership
    try (Leadership leadership =
        Leadership.builder(locks, "billing", Duration.ofSeconds(10))
            .onElected(term -> write(term.fencingToken()))
            .onLost(reason -> stop(reason))
            .start()) {
      serve(leadership.isLeader());
    }
    // end leadership
  }

  void inspection() {
    // begin inspection
    LockReport report = locks.inspect("report");
    if (report.state() == LockReport.State.HELD) {
      System.out.println("held by " + report.holders().get(0).holder());
    }
    ClientHealth health = locks.health();
    System.out.println(health.voting() + " nodes vote, " + health.margin() + " may fail yet");
    // end inspection
  }

  void listening() {
    // begin listening
    LockClient client =
        Redlock.builder()
            .node(new InMemoryNode("memory"))
            .listener(
                event -> {
                  if (event instanceof LockEvent.Lost lost) {
                    alert("lost " + lost.resources() + ": " + lost.reason());
                  } else if (event instanceof LockEvent.NodeStateChanged node) {
                    alert(node.node() + (node.available() ? " is back" : ": " + node.detail()));
                  }
                })
            .build();
    // end listening
    client.close();
  }

  private static void use(Lease waited, Optional<Lease> now, Optional<Lease> soon, boolean ran) {
    waited.release();
    now.ifPresent(Lease::release);
    soon.ifPresent(Lease::release);
    serve(ran);
  }

  private void write(long token) {
    fence.check("report", token);
  }

  private static CompletableFuture<String> render(long token) {
    return CompletableFuture.completedFuture("report " + token);
  }

  private static void stop(LossReason reason) {
    alert(reason.explanation());
  }

  private static void rebuild() {}

  private static void serve(boolean leading) {
    alert("leading: " + leading);
  }

  private static void alert(String text) {
    System.err.println(text);
  }
}
