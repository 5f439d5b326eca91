package dev.lukko;

import dev.lukko.time.Scheduler;
import dev.lukko.time.Ticker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A counting semaphore whose permits are leases: at most so many holders at a time, and the permit
 * of a holder that died comes back by its ttl.
 *
 * <p>Made by {@link LockClient#asSemaphore}. Permit number {@code i} of the semaphore {@code name}
 * is the lock {@code name#i}, so every promise of a lock holds for every permit; fencing tokens
 * rise for each permit, not for the semaphore. All users of a name must agree on the number of
 * permits. Finding a free permit takes up to one round for each permit. Thread-safe.
 */
public final class LeasedSemaphore {
  /** The most permits a semaphore may have. */
  public static final int MAX_PERMITS = 100;

  private static final Ticker CLOCK = Ticker.system();
  private static final Duration WAIT_ON_ONE_PERMIT = Duration.ofMillis(250);

  private final LockClient client;
  private final List<LockRequest> permits;

  LeasedSemaphore(LockClient client, String name, int permits, Duration ttl) {
    if (permits < 1 || permits > MAX_PERMITS) {
      throw new IllegalArgumentException(
          "permits is " + permits + "; it must be between 1 and " + MAX_PERMITS);
    }
    this.client = Objects.requireNonNull(client, "client");
    List<LockRequest> requests = new ArrayList<>(permits);
    for (int i = 0; i < permits; i++) {
      requests.add(
          LockRequest.builder(name + "#" + i)
              .ttl(ttl)
              .autoExtend(true)
              .maxWait(Duration.ZERO)
              .build());
    }
    this.permits = List.copyOf(requests);
  }

  /**
   * Takes a permit if one is free. Extended in the background until it is released.
   *
   * @throws QuorumUnavailableException if no quorum of nodes can be reached
   */
  public Optional<Lease> tryAcquire() {
    int start = ThreadLocalRandom.current().nextInt(permits.size());
    for (int i = 0; i < permits.size(); i++) {
      Optional<Lease> permit = client.tryAcquire(permits.get((start + i) % permits.size()));
      if (permit.isPresent()) {
        return permit;
      }
    }
    return Optional.empty();
  }

  /**
   * Takes a permit, waiting for one no longer than a budget; zero is one try at every permit.
   *
   * @throws QuorumUnavailableException if no quorum of nodes can be reached
   * @throws LockInterruptedException if this thread was interrupted while it waited
   */
  public Optional<Lease> tryAcquire(Duration maxWait) {
    long budget = Scheduler.toNanosSaturated(Checks.notNegative("maxWait", maxWait));
    long start = CLOCK.nanoTime();
    Optional<Lease> permit = tryAcquire();
    for (long left = budget; permit.isEmpty() && left > 0; left = budget - elapsed(start)) {
      LockRequest one = permits.get(ThreadLocalRandom.current().nextInt(permits.size()));
      Duration wait = Duration.ofNanos(Math.min(left, WAIT_ON_ONE_PERMIT.toNanos()));
      permit = client.tryAcquire(one.withWait(wait)).or(this::tryAcquire);
    }
    return permit;
  }

  private static long elapsed(long start) {
    return CLOCK.nanoTime() - start;
  }

  /** How many holders there may be at a time. */
  public int permits() {
    return permits.size();
  }
}
