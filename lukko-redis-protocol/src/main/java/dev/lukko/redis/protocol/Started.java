package dev.lukko.redis.protocol;

import static java.lang.System.Logger.Level.WARNING;

import dev.lukko.spi.LockNode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A node that has begun to connect.
 *
 * @param node the node, which may be used at once
 * @param link its way to the server
 */
public record Started<N extends LockNode>(N node, Link link) {
  private static final System.Logger LOG = System.getLogger(Started.class.getName());

  /** Waits until the first attempt to connect has ended, in whichever way, or the time is over. */
  public N await(Duration timeout) {
    await(timeout.toNanos());
    return node;
  }

  /** Waits for all of them as {@link #await(Duration)} does, for no longer than the one timeout. */
  public static <N extends LockNode> List<N> awaitAll(List<Started<N>> started, Duration timeout) {
    long deadlineNanos = System.nanoTime() + timeout.toNanos();
    started.forEach(each -> each.await(deadlineNanos - System.nanoTime()));
    return started.stream().map(Started::node).toList();
  }

  private void await(long nanos) {
    try {
      link.firstTry().get(nanos, TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException e) {
      LOG.log(WARNING, "{0} does not answer yet; it joins when it does", node.name());
    }
  }
}
