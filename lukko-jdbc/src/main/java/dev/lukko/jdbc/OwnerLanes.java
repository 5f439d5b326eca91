package dev.lukko.jdbc;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The order rule: requests of one owner run one after the other, in the order in which they came,
 * though there are several connections.
 */
final class OwnerLanes {
  private final Map<String, ArrayDeque<Request<?>>> busy = new HashMap<>();

  /** Whether the request may run now; if not, {@link #leave} hands it out later. */
  synchronized boolean enter(Request<?> request) {
    String owner = request.owner();
    if (owner == null) {
      return true;
    }
    ArrayDeque<Request<?>> waiting = busy.get(owner);
    if (waiting != null) {
      waiting.add(request);
      return false;
    }
    busy.put(owner, new ArrayDeque<>(2));
    return true;
  }

  synchronized boolean isEmpty() {
    return busy.isEmpty();
  }

  /** Ends a request that was allowed to run; the next one of its owner, which may run now. */
  synchronized @Nullable Request<?> leave(Request<?> request) {
    String owner = request.owner();
    if (owner == null) {
      return null;
    }
    ArrayDeque<Request<?>> waiting = busy.get(owner);
    Request<?> next = waiting == null ? null : waiting.poll();
    if (next == null) {
      busy.remove(owner);
    }
    return next;
  }
}
