package dev.lukko.redis.protocol;

import java.util.LinkedHashSet;
import java.util.Set;

/**
 * Of which runs of servers this process has logged its remark already: one line for each, whatever
 * the number of clients. Bounded; thread-safe.
 */
final class Notes {
  private static final int MAX = 1_000;

  private final Set<String> runs = new LinkedHashSet<>();

  /** Whether nothing was said of this run of a server yet; something is from now on. */
  synchronized boolean isFirst(String run) {
    if (runs.size() >= MAX && !runs.contains(run)) {
      runs.remove(runs.iterator().next());
    }
    return runs.add(run);
  }
}
