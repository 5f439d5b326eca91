package dev.lukko.spi;

/**
 * A waiter's place in the line of a resource.
 *
 * <p>The line is ordered by {@code order}, then by {@code waiter}, at every node alike, so that all
 * nodes come to agree on who is first. A node keeps a waiter for {@code leaseMillis} after its last
 * request; a waiter that died costs the line no more than that.
 *
 * @param waiter a random id, the same for all rounds of one waiting call
 * @param order when the call began, in microseconds of the client's wall clock
 * @param leaseMillis how long the node keeps the place without another request, by its own clock
 */
public record FairTicket(String waiter, long order, long leaseMillis)
    implements Comparable<FairTicket> {

  /** Puts the ticket that is served first before the other; what its lease is does not matter. */
  @Override
  public int compareTo(FairTicket other) {
    int byOrder = Long.compare(order, other.order);
    return byOrder != 0 ? byOrder : waiter.compareTo(other.waiter);
  }
}
