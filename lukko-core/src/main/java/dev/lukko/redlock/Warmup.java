package dev.lukko.redlock;

import dev.lukko.LockRequest;
import dev.lukko.spi.Capability;
import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.Inspection;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.time.Scheduler;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * One acquisition and its end without any store, before the first client of a process makes its
 * first round: what the Java platform does once for each class would count as the nodes' time
 * there.
 */
final class Warmup {
  private static final System.Logger LOG = System.getLogger(Warmup.class.getName());
  private static volatile boolean begun;

  private Warmup() {}

  /** Does it, unless somebody has begun it already. */
  static void once() {
    if (begun) {
      return;
    }
    begun = true;
    try (Redlock client =
        new RedlockBuilder().node(new Obliging()).scheduler(new Inert()).build()) {
      client
          .acquire(
              LockRequest.builder("warm-up")
                  .ttl(Duration.ofMinutes(1))
                  .maxWait(Duration.ofMinutes(1))
                  .build())
          .release();
    } catch (RuntimeException unneeded) {
      LOG.log(System.Logger.Level.DEBUG, "the engine could not be warmed up", unneeded);
    }
  }

  /** A node that does whatever it is asked, and stores nothing. */
  private static final class Obliging implements LockNode {
    private static <R> CompletionStage<R> reply(R reply) {
      return CompletableFuture.completedFuture(reply);
    }

    @Override
    public String name() {
      return "warm-up";
    }

    @Override
    public Set<Capability> capabilities() {
      return Set.of();
    }

    @Override
    public CompletionStage<GrantReply> grant(GrantRequest request) {
      return reply(new GrantReply.Granted(request.proposal()));
    }

    @Override
    public CompletionStage<ConfirmReply> confirm(LockEntry entry, long counter) {
      return reply(new ConfirmReply.Confirmed());
    }

    @Override
    public CompletionStage<ExtendReply> extend(LockEntry entry, long ttlMillis) {
      return reply(new ExtendReply.Extended());
    }

    @Override
    public CompletionStage<ExtendReply> repair(
        LockEntry entry, long ttlMillis, long counter, long lastMillis) {
      return reply(new ExtendReply.Extended());
    }

    @Override
    public CompletionStage<ReleaseReply> release(LockEntry entry) {
      return reply(new ReleaseReply.Released());
    }

    @Override
    public CompletionStage<Inspection> inspect(String resource) {
      return CompletableFuture.failedFuture(new UnsupportedOperationException("nothing is stored"));
    }

    @Override
    public void close() {}
  }

  /** Timers that never run: nothing here takes any time. */
  private static final class Inert implements Scheduler {
    @Override
    public Timer schedule(Runnable task, long delayNanos) {
      return () -> {};
    }

    @Override
    public void execute(Runnable task) {}

    @Override
    public void close() {}
  }
}
