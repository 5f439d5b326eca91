package dev.lukko.postgres;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The attempts of this client that wait for a key, in the order in which they came. */
final class Waiters {
  private final Map<Long, Deque<Attempt>> byLock = new HashMap<>();
  private final Set<Attempt> pending = ConcurrentHashMap.newKeySet();

  /** All attempts that had to wait and have not ended, for a key or for the server. */
  Set<Attempt> pending() {
    return pending;
  }

  synchronized void add(LockKey key, Attempt attempt) {
    byLock.computeIfAbsent(key.lock(), lock -> new ArrayDeque<>()).addLast(attempt);
  }

  synchronized void remove(LockKey key, Attempt attempt) {
    Deque<Attempt> queue = byLock.get(key.lock());
    if (queue != null) {
      queue.remove(attempt);
      if (queue.isEmpty()) {
        byLock.remove(key.lock());
      }
    }
  }

  /** Wakes the first waiter of each key; it wakes the next one when it ends. */
  void wake(Collection<LockKey> keys) {
    for (LockKey key : keys) {
      wake(key.lock());
    }
  }

  void wake(long lock) {
    Attempt first = first(lock);
    if (first != null) {
      first.wake();
    }
  }

  synchronized boolean isEmpty() {
    return byLock.isEmpty();
  }

  private synchronized @Nullable Attempt first(long lock) {
    Deque<Attempt> queue = byLock.get(lock);
    return queue == null ? null : queue.peekFirst();
  }
}
