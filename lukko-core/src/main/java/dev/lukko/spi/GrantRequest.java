package dev.lukko.spi;

import org.jspecify.annotations.Nullable;

/**
 * A client asks a node for a lock.
 *
 * @param entry what to lock, and for whom
 * @param ttlMillis how long the node keeps the entry, by its own clock; positive
 * @param proposal the number that the node's counters should reach with this grant; positive
 * @param ticket the place in the line of fair waiters, or null for a request that does not queue
 */
public record GrantRequest(
    LockEntry entry, long ttlMillis, long proposal, @Nullable FairTicket ticket) {

  /** The highest counter that is exact in every store, 2^53 - 1. */
  public static final long MAX_COUNTER = (1L << 53) - 1;

  public GrantRequest {
    if (ttlMillis <= 0) {
      throw new IllegalArgumentException("ttlMillis is " + ttlMillis + "; it must be positive");
    }
    if (proposal <= 0 || proposal > MAX_COUNTER) {
      throw new IllegalArgumentException(
          "proposal is " + proposal + "; it must be between 1 and " + MAX_COUNTER);
    }
  }

  /** A request that does not queue. */
  public GrantRequest(LockEntry entry, long ttlMillis, long proposal) {
    this(entry, ttlMillis, proposal, null);
  }

  /** The same request for a node of which this was seen. */
  public GrantRequest seen(String ofNode) {
    return new GrantRequest(entry.seen(ofNode), ttlMillis, proposal, ticket);
  }
}
