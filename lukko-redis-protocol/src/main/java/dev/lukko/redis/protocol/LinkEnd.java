package dev.lukko.redis.protocol;

import java.util.concurrent.CompletableFuture;

/**
 * How far the end of a link is: whether it has begun, and when it is over.
 *
 * <p>Whether it has begun is guarded by the lock of the {@link RedisLink}; when it is over may be
 * read by anybody.
 */
final class LinkEnd {
  private final CompletableFuture<Void> over = new CompletableFuture<>();
  private boolean begun;

  /** Begins it; false if it has begun already. */
  boolean begin() {
    boolean first = !begun;
    begun = true;
    return first;
  }

  boolean hasBegun() {
    return begun;
  }

  boolean isOver() {
    return over.isDone();
  }

  /** Completes when nothing of the link is left. */
  CompletableFuture<Void> over() {
    return over;
  }

  /** Ends it with the last connection. */
  void behind(Wire last) {
    var unused = last.close().whenComplete((done, error) -> over.complete(null));
  }

  /** Ends it at once: there is no connection. */
  void now() {
    over.complete(null);
  }
}
