package dev.lukko.redis.protocol;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * The releases whose outcome is open: made while there was no connection, lost with one, or refused
 * by a server that was busy or loading.
 *
 * <p>They are sent again, which is harmless: a release deletes only what its own owner holds. While
 * a server cannot be reached they wait without a limit of time, since a server that is merely
 * stopped runs an old grant when it wakes. Once it answers, it has run all that was sent before,
 * and the longest ttl of this client is the end of whatever a refused release leaves behind.
 *
 * <p>Not thread-safe; guarded by the lock of its {@link RedisLink}.
 */
final class PendingReleases {
  static final int MAX = 1_000;

  private final Deque<PendingRelease> releases = new ArrayDeque<>();

  boolean isEmpty() {
    return releases.isEmpty();
  }

  /** Keeps a release; the oldest one gives way when there are too many. */
  void keep(PendingRelease release) {
    if (releases.size() == MAX) {
      releases.removeFirst();
    }
    releases.addLast(release);
  }

  /** Empties the list. */
  List<PendingRelease> takeAll() {
    List<PendingRelease> all = new ArrayList<>(releases);
    releases.clear();
    return all;
  }
}
