package dev.lukko.redlock;

import dev.lukko.time.Ticker;
import dev.lukko.time.Uninterrupted;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The requests of one client that are on their way and must not be cut off by its end: closing a
 * node at once would take its last releases along, closing the timers those that end the others.
 */
final class OpenReleases {
  private static final System.Logger LOG = System.getLogger(OpenReleases.class.getName());

  private final Set<CompletableFuture<?>> open = ConcurrentHashMap.newKeySet();

  @SuppressWarnings("CollectionUndefinedEquality") // The very future is meant.
  void add(CompletionStage<?> release) {
    CompletableFuture<?> future = release.toCompletableFuture();
    if (!future.isDone()) {
      open.add(future);
      future.whenComplete((reply, failure) -> open.remove(future));
    }
  }

  /**
   * Waits until all have been answered, those too that are added meanwhile, or the time is over. An
   * interrupt does not shorten the wait, since what is not sent then stays at the nodes; its flag
   * is kept.
   */
  void await(Ticker ticker, long timeoutNanos) {
    long startNanos = ticker.nanoTime();
    while (!open.isEmpty()) {
      CompletableFuture<?> all =
          CompletableFuture.allOf(open.toArray(new CompletableFuture<?>[0]))
              .exceptionally(unknown -> null);
      if (!Uninterrupted.await(all, timeoutNanos - (ticker.nanoTime() - startNanos))) {
        LOG.log(
            System.Logger.Level.WARNING,
            () -> open.size() + " requests were not answered before the client was closed");
        return;
      }
    }
  }
}
