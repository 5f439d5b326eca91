package dev.lukko.bench.soak;

import dev.lukko.Lease;
import dev.lukko.LockNotAcquiredException;
import dev.lukko.LockRequest;
import dev.lukko.fencing.StaleTokenException;
import dev.lukko.redlock.Redlock;
import io.lettuce.core.RedisException;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** The work of a client: one addition after the other, each until its outcome is known. */
final class Adder {
  private static final Duration MAX_WAIT = Duration.ofSeconds(2);
  private static final long AFTER_NO_DECISION_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
  private static final int MOST_ADDITIONS_IN_A_HOLD = 3;

  /** One addition in so many takes longer than the lease. */
  private static final int OVERSTAYS = 200;

  private final String name;
  private final Random random;
  private final SoakMode mode;
  private final Redlock locks;
  private final PagedSet set;
  private final Teller teller;
  private volatile boolean stopped;
  private int number;
  private @Nullable Addition open;

  /** An addition that is not known to be done. */
  private record Addition(String id, int firstPage) {}

  Adder(String name, long seed, SoakMode mode, Redlock locks, PagedSet set, Teller teller) {
    this.name = name;
    this.random = new Random(seed);
    this.mode = mode;
    this.locks = locks;
    this.set = set;
    this.teller = teller;
  }

  void stop() {
    stopped = true;
  }

  /** Adds until it is told to stop. */
  void run() {
    while (!stopped) {
      if (mode == SoakMode.WITHOUT_LOCK) {
        add(null);
      } else {
        hold();
      }
    }
  }

  private void hold() {
    LockRequest request =
        LockRequest.builder(SoakPlan.LOCK)
            .ttl(SoakPlan.TTL)
            .maxWait(MAX_WAIT)
            .autoExtend(random.nextInt(3) == 0)
            .build();
    Optional<Lease> granted;
    try {
      granted = locks.tryAcquire(request);
    } catch (LockNotAcquiredException noDecision) {
      teller.say(Said.UNAVAILABLE, noDecision.getClass().getSimpleName());
      LockSupport.parkNanos(AFTER_NO_DECISION_NANOS);
      return;
    }
    if (granted.isEmpty()) {
      teller.say(Said.BUSY);
      return;
    }
    Lease lease = granted.get();
    long token = lease.fencingToken();
    teller.say(Said.GRANTED, token);
    lease.onLost(reason -> teller.say(Said.LOST, token, reason));
    int additions = 1 + random.nextInt(MOST_ADDITIONS_IN_A_HOLD);
    for (int i = 0; i < additions; i++) {
      if (!add(lease)) {
        break;
      }
    }
    lease.release();
    teller.say(Said.RELEASED, token);
  }

  /** Does not look whether the lease is valid: to refuse what comes late is the fence's work. */
  private boolean add(@Nullable Lease lease) {
    Addition addition = open;
    if (addition == null) {
      addition = new Addition(name + "-" + number++, set.page());
      open = addition;
    }
    long token = lease == null ? 0 : lease.fencingToken();
    try {
      boolean added = set.add(addition.id, addition.firstPage, token, this::think);
      teller.say(added ? Said.ADDED : Said.FOUND, addition.id, token);
      open = null;
      return true;
    } catch (StaleTokenException refused) {
      // A lease that is valid now was valid then: nobody may have had a higher token.
      boolean valid = lease != null && lease.isValid();
      teller.say(Said.REFUSED, addition.id, token, valid ? "valid" : "over");
      return false;
    } catch (RedisException unknown) {
      teller.say(Said.UNKNOWN, addition.id, token);
      return false;
    }
  }

  private void think() {
    long millis =
        random.nextInt(OVERSTAYS) == 0 ? SoakPlan.TTL.toMillis() * 5 / 4 : 1 + random.nextInt(6);
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(millis));
  }
}
