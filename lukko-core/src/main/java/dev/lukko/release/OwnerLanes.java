package dev.lukko.release;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The order rule: requests of one owner run one after the other, in the order in which they came,
 * though there are several connections. Thread-safe.
 *
 * @param <R> the request
 */
public final class OwnerLanes<R> {
  private final Map<String, ArrayDeque<R>> busy = new HashMap<>();
  private final Function<R, @Nullable String> ownerOf;

  /**
   * Lanes without requests.
   *
   * @param ownerOf whose a request is; null if it waits for nobody
   */
  public OwnerLanes(Function<R, @Nullable String> ownerOf) {
    this.ownerOf = ownerOf;
  }

  /** Whether the request may run now; if not, {@link #leave} hands it out later. */
  public synchronized boolean enter(R request) {
    String owner = ownerOf.apply(request);
    if (owner == null) {
      return true;
    }
    ArrayDeque<R> waiting = busy.get(owner);
    if (waiting != null) {
      waiting.add(request);
      return false;
    }
    busy.put(owner, new ArrayDeque<>(2));
    return true;
  }

  public synchronized boolean isEmpty() {
    return busy.isEmpty();
  }

  /** Ends a request that was allowed to run; the next one of its owner, which may run now. */
  public synchronized @Nullable R leave(R request) {
    String owner = ownerOf.apply(request);
    if (owner == null) {
      return null;
    }
    ArrayDeque<R> waiting = busy.get(owner);
    R next = waiting == null ? null : waiting.poll();
    if (next == null) {
      busy.remove(owner);
    }
    return next;
  }
}
