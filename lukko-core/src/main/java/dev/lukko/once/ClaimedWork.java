package dev.lukko.once;

import dev.lukko.fencing.KeyClaimLostException;
import dev.lukko.fencing.KeyInProgressException;
import dev.lukko.fencing.KeyReusedException;
import dev.lukko.fencing.RequestFingerprint;
import dev.lukko.spi.OwnerValue;
import dev.lukko.time.Ticker;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Work that is done under a claim of its key: claim, work, result; or the wait for the call that
 * has the claim.
 */
public final class ClaimedWork {
  private static final long FIRST_PAUSE_MILLIS = 10;
  private static final long LONGEST_PAUSE_MILLIS = 200;

  private final String key;
  private final RequestFingerprint request;
  private final Duration maxWait;
  private final Store store;
  private final Ticker ticker = Ticker.system();

  /** One key in a store. Its calls are not cut short by an interrupt. */
  public interface Store {
    /** Claims the key for an owner, or tells what is known of it. */
    Claim claim(String owner);

    /** Stores the result, if the claim still stands; whether it does. */
    boolean complete(String owner, @Nullable String result);

    /** Takes the claim back, if it still stands. */
    void abandon(String owner);
  }

  /**
   * Work of one request.
   *
   * @param maxWait how long it waits for another call's
   */
  public ClaimedWork(String key, RequestFingerprint request, Duration maxWait, Store store) {
    this.key = key;
    this.request = request;
    this.maxWait = maxWait;
    this.store = store;
  }

  /**
   * Runs the work, unless the key has a result.
   *
   * @return the result of the work, now or then
   * @throws KeyInProgressException if another call runs it and did not end within the wait, or this
   *     thread was interrupted while it waited (its flag is set)
   * @throws KeyReusedException if the key has been used for a request with another fingerprint
   * @throws KeyClaimLostException if the work was done and took longer than the claim
   * @throws Exception what the work threw
   */
  public @Nullable String run(Callable<@Nullable String> work) throws Exception {
    String owner = OwnerValue.create(ticker.wallInstant(), "once");
    if (claim(owner) instanceof Claim.Done done) {
      return done.result();
    }
    @Nullable String result;
    try {
      result = work.call();
    } catch (Throwable failed) {
      abandon(owner, failed);
      throw failed;
    }
    if (!store.complete(owner, result)) {
      throw new KeyClaimLostException(key, result);
    }
    return result;
  }

  /** Claims the key, waiting for another's claim; gives what is known, which is not "running". */
  private Claim claim(String owner) {
    long start = ticker.nanoTime();
    long pauseMillis = FIRST_PAUSE_MILLIS;
    while (true) {
      Claim known = store.claim(owner);
      if (known instanceof Claim.Running running) {
        checkSame(running.request());
        long leftMillis =
            maxWait.toMillis() - TimeUnit.NANOSECONDS.toMillis(ticker.nanoTime() - start);
        if (leftMillis <= 0 || Thread.currentThread().isInterrupted()) {
          throw new KeyInProgressException(key, maxWait, null);
        }
        long claimLeftMillis = Math.max(1, running.leftMillis() + 1);
        LockSupport.parkNanos(
            TimeUnit.MILLISECONDS.toNanos(
                Math.min(pauseMillis, Math.min(leftMillis, claimLeftMillis))));
        pauseMillis = Math.min(LONGEST_PAUSE_MILLIS, 2 * pauseMillis);
      } else {
        if (known instanceof Claim.Done done) {
          checkSame(done.request());
        }
        return known;
      }
    }
  }

  private void checkSame(RequestFingerprint stored) {
    if (!stored.equals(request)) {
      throw new KeyReusedException(key, stored, request);
    }
  }

  private void abandon(String owner, Throwable failed) {
    try {
      store.abandon(owner);
    } catch (RuntimeException unreachable) {
      failed.addSuppressed(unreachable); // The claim ends by its ttl.
    }
  }
}
