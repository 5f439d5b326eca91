package dev.lukko.redlock;

import dev.lukko.redlock.Acquirer.Identity;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Which threads of this client hold what, and wait for what: enough to see a circle.
 *
 * <p>Advice, not a verdict: a lease may be released by another thread than the one that acquired
 * it, and circles through other processes are not seen. Shared holders count as holders.
 */
final class WaitGraph {
  private final Map<String, Set<Identity>> holders = new HashMap<>();
  private final Map<Identity, List<String>> waiting = new HashMap<>();

  synchronized void holds(Acquirer acquirer, List<String> resources) {
    Identity thread = acquirer.thread();
    if (thread != null) {
      resources.forEach(
          resource -> holders.computeIfAbsent(resource, key -> new HashSet<>(2)).add(thread));
    }
  }

  synchronized void releases(Acquirer acquirer, List<String> resources) {
    Identity thread = acquirer.thread();
    if (thread != null) {
      for (String resource : resources) {
        holders.computeIfPresent(
            resource,
            (key, threads) -> {
              threads.remove(thread);
              return threads.isEmpty() ? null : threads;
            });
      }
    }
  }

  /**
   * A thread begins to wait.
   *
   * @return who waits for whom, as a sentence, if that closes a circle; else empty
   */
  synchronized String waits(Acquirer acquirer, List<String> resources) {
    Identity thread = acquirer.thread();
    if (thread == null) {
      return "";
    }
    waiting.put(thread, resources);
    List<String> path = new ArrayList<>();
    return leadsTo(thread, thread, new HashSet<>(), path) ? String.join(", ", path) : "";
  }

  synchronized void waitsNoMore(Acquirer acquirer) {
    Identity thread = acquirer.thread();
    if (thread != null) {
      waiting.remove(thread);
    }
  }

  /**
   * Whether {@code from} waits, over any number of threads, for something that {@code goal} holds.
   */
  private boolean leadsTo(Identity from, Identity goal, Set<Identity> seen, List<String> path) {
    for (String resource : waiting.getOrDefault(from, List.of())) {
      for (Identity holder : holders.getOrDefault(resource, Set.of())) {
        path.add(
            "thread "
                + from.name()
                + " waits for "
                + resource
                + " held by thread "
                + holder.name());
        if (holder.equals(goal) || (seen.add(holder) && leadsTo(holder, goal, seen, path))) {
          return true;
        }
        path.remove(path.size() - 1);
      }
    }
    return false;
  }
}
