package dev.lukko.redis.protocol;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;

/**
 * The owners whose entries the server has granted and that were not released yet. It is only a
 * guess at what a release will find, and a wrong one costs a hint too many; so it is bounded, and
 * forgets those whose ttl is over. Thread-safe.
 */
public final class GrantedOwners {
  public static final int MAX = 10_000;

  private final ConcurrentMap<String, Long> endNanosByOwner = new ConcurrentHashMap<>();

  /** Nobody yet. */
  public GrantedOwners() {}

  public void add(String owner, long ttlMillis) {
    long nowNanos = System.nanoTime();
    if (endNanosByOwner.size() >= MAX) {
      endNanosByOwner.values().removeIf(end -> end - nowNanos < 0);
    }
    if (endNanosByOwner.size() < MAX) {
      endNanosByOwner.put(owner, nowNanos + TimeUnit.MILLISECONDS.toNanos(ttlMillis));
    }
  }

  /** Whether an owner was granted; it is forgotten now. */
  public boolean remove(String owner) {
    return endNanosByOwner.remove(owner) != null;
  }
}
