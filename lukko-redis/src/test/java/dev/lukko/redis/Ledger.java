package dev.lukko.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.Lease;
import dev.lukko.LockRequest;
import dev.lukko.redlock.Redlock;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Looks over all acquisitions of one lock and checks what must hold whatever happens.
 *
 * <ul>
 *   <li>F1: no two acquisitions share a token.
 *   <li>F2: what is granted after another ended has a larger token.
 *   <li>M, unless it was said that it may break: no lease is granted while another is valid.
 * </ul>
 *
 * F3 is kept by the {@link FencedResource}, F4 by looking at the servers' entries.
 */
final class Ledger {
  private final Set<Long> tokens = new HashSet<>();
  private final List<Lease> open = new ArrayList<>();
  private long highestEnded;
  private boolean overlapAllowed;

  /** From now on the row does not promise mutual exclusion. */
  synchronized void allowOverlap() {
    overlapAllowed = true;
  }

  Lease acquire(Redlock client, LockRequest request) {
    return acquire(() -> client.acquire(request));
  }

  Lease acquire(Supplier<Lease> acquisition) {
    long floor = highestEnded();
    Lease lease = acquisition.get();
    granted(lease, floor);
    return lease;
  }

  private synchronized long highestEnded() {
    return highestEnded;
  }

  private synchronized void granted(Lease lease, long floor) {
    assertThat(tokens.add(lease.fencingToken())).as("F1: token is new").isTrue();
    assertThat(lease.fencingToken()).as("F2: token rises").isGreaterThan(floor);
    if (!overlapAllowed) {
      assertThat(open).as("M: no other lease is valid").noneMatch(Lease::isValid);
    }
    open.add(lease);
  }

  /** The lease is about to end, by release or because it is not valid any more. */
  synchronized void ending(Lease lease) {
    open.remove(lease);
    highestEnded = Math.max(highestEnded, lease.fencingToken());
  }

  void close(Lease lease) {
    ending(lease);
    lease.release();
  }

  synchronized int grants() {
    return tokens.size();
  }
}
