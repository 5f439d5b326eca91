package dev.lukko.redis.protocol;

import static java.lang.System.Logger.Level.WARNING;

import dev.lukko.spi.LockNode;
import dev.lukko.time.Ticker;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * A node that has begun to connect.
 *
 * @param node the node, which may be used at once
 * @param link its way to the server
 * @param warmUp sends one request the whole way, and completes with its reply or its failure
 */
public record Started<N extends LockNode>(
    N node, Link link, Supplier<CompletableFuture<Void>> warmUp) {
  private static final System.Logger LOG = System.getLogger(Started.class.getName());

  /** What the loading of classes may take. */
  private static final Duration COLD_START = Duration.ofSeconds(5);

  /**
   * Waits until the first attempt to connect has ended, in whichever way. It is bounded itself: by
   * the connect timeout for the connection, and once more for the first answers. On top of that a
   * fresh process on a busy machine may take seconds for the loading of classes, which is waited
   * for as well: a node that is returned before cannot grant, though its server is healthy. A first
   * request has gone the whole way by then, so that nothing of this counts as the time of a lock.
   *
   * @param connectTimeout that of the attempt
   */
  public N await(Duration connectTimeout) {
    await(ready(), boundNanos(connectTimeout));
    return node;
  }

  private static long boundNanos(Duration connectTimeout) {
    return connectTimeout.multipliedBy(2).plus(COLD_START).toNanos();
  }

  /** Waits for all of them as {@link #await(Duration)} does, for no longer than for one. */
  public static <N extends LockNode> List<N> awaitAll(
      List<Started<N>> started, Duration connectTimeout) {
    long deadlineNanos = Ticker.system().nanoTime() + boundNanos(connectTimeout);
    List<CompletableFuture<Void>> ready = started.stream().map(Started::ready).toList();
    for (int i = 0; i < ready.size(); i++) {
      started.get(i).await(ready.get(i), deadlineNanos - Ticker.system().nanoTime());
    }
    return started.stream().map(Started::node).toList();
  }

  private CompletableFuture<Void> ready() {
    return link.firstTry()
        .thenCompose(
            tried ->
                link.isConnected() ? warmUp.get() : CompletableFuture.<Void>completedFuture(null));
  }

  private void await(CompletableFuture<Void> ready, long nanos) {
    try {
      ready.get(nanos, TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException e) {
      LOG.log(WARNING, "{0} does not answer yet; it joins when it does", node.name());
    }
  }
}
