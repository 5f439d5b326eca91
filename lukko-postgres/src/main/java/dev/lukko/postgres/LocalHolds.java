package dev.lukko.postgres;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the leases of one session hold. A session may take its own locks again, so the server does
 * not keep the threads of one process apart; this table does. Not thread-safe.
 */
final class LocalHolds {
  private final Map<Long, List<Hold>> byLock = new HashMap<>();

  /** A hold that excludes a new one of that kind, or null. */
  @Nullable Hold conflicting(LockKey key, boolean shared) {
    for (Hold hold : byLock.getOrDefault(key.lock(), List.of())) {
      if (!shared || !hold.shared()) {
        return hold;
      }
    }
    return null;
  }

  void add(Hold hold) {
    for (LockKey key : hold.keys()) {
      byLock.computeIfAbsent(key.lock(), lock -> new ArrayList<>(1)).add(hold);
    }
  }

  boolean contains(Hold hold) {
    return byLock.getOrDefault(hold.keys().get(0).lock(), List.of()).contains(hold);
  }

  boolean remove(Hold hold) {
    boolean removed = false;
    for (LockKey key : hold.keys()) {
      List<Hold> there = byLock.get(key.lock());
      if (there != null && there.remove(hold)) {
        removed = true;
        if (there.isEmpty()) {
          byLock.remove(key.lock());
        }
      }
    }
    return removed;
  }
}
