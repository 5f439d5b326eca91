package dev.lukko.redlock;

import dev.lukko.time.Ticker;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The releases of one client that are on their way. Nobody waits for them, but for the client's
 * end: closing a node at once would take its last releases along.
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
   * interrupt ends the wait.
   */
  void await(Ticker ticker, long timeoutNanos) {
    long startNanos = ticker.nanoTime();
    try {
      while (!open.isEmpty()) {
        CompletableFuture.allOf(open.toArray(new CompletableFuture<?>[0]))
            .exceptionally(unknown -> null)
            .get(timeoutNanos - (ticker.nanoTime() - startNanos), TimeUnit.NANOSECONDS);
      }
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
    } catch (TimeoutException | ExecutionException unanswered) {
      LOG.log(
          System.Logger.Level.WARNING,
          () -> open.size() + " releases were not answered before the client was closed");
    }
  }
}
