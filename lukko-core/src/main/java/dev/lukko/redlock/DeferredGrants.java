package dev.lukko.redlock;

import dev.lukko.spi.Failed;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.ReleaseReply;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The grants that wait to be sent to one node: a grant whose owner is released meanwhile is never
 * sent, since it would be applied behind its own release and stay for a ttl. Thread-safe.
 */
final class DeferredGrants {
  private final ConcurrentMap<String, Deferred> waiting = new ConcurrentHashMap<>();

  private enum State {
    WAITING,
    SENT,
    WITHDRAWN
  }

  /** A grant that waits; {@code handedOver} completes when it is on its way to the node. */
  private record Deferred(AtomicReference<State> state, CompletableFuture<Void> handedOver) {
    Deferred() {
      this(new AtomicReference<>(State.WAITING), new CompletableFuture<>());
    }

    boolean becomes(State next) {
      return state.compareAndSet(State.WAITING, next);
    }
  }

  /**
   * Sends a grant behind a question, unless its owner has been released by then.
   *
   * @param obstacle completes with the reply that stands for the grant's, or null if it may be sent
   */
  CompletionStage<GrantReply> send(
      GrantRequest request,
      CompletionStage<@Nullable GrantReply> obstacle,
      Supplier<CompletionStage<GrantReply>> grant) {
    String owner = request.entry().owner();
    Deferred deferred = new Deferred();
    waiting.put(owner, deferred);
    return obstacle
        .whenComplete((reply, failure) -> removeUnlessSent(owner, deferred, reply, failure))
        .thenCompose(
            reply -> {
              if (reply != null) {
                return CompletableFuture.completedFuture(reply);
              }
              return deferred.becomes(State.SENT)
                  ? handOver(owner, deferred, grant)
                  : CompletableFuture.completedFuture(withdrawn());
            });
  }

  private void removeUnlessSent(
      String owner, Deferred deferred, @Nullable GrantReply reply, @Nullable Throwable failure) {
    if (reply != null || failure != null) {
      waiting.remove(owner, deferred);
    }
  }

  private CompletionStage<GrantReply> handOver(
      String owner, Deferred deferred, Supplier<CompletionStage<GrantReply>> grant) {
    try {
      return grant.get();
    } finally {
      waiting.remove(owner, deferred);
      deferred.handedOver().complete(null);
    }
  }

  private static Failed withdrawn() {
    return new Failed(
        Failed.WITHDRAWN
            + ": not sent, since its owner has released before the node told who it is");
  }

  /**
   * Sends a release: a grant that waits is not sent any more, one that is being sent goes first.
   */
  CompletionStage<ReleaseReply> release(
      LockEntry entry, Supplier<CompletionStage<ReleaseReply>> release) {
    Deferred deferred = waiting.get(entry.owner());
    if (deferred == null) {
      return release.get();
    }
    if (deferred.becomes(State.WITHDRAWN)) {
      waiting.remove(entry.owner(), deferred);
      return release.get();
    }
    return deferred.state().get() == State.SENT
        ? deferred.handedOver().thenCompose(done -> release.get())
        : release.get();
  }
}
