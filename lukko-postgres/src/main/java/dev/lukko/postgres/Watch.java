package dev.lukko.postgres;

import dev.lukko.time.Scheduler;
import dev.lukko.time.Ticker;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The one timer that looks after all holds of a client: it ends those whose time is over, and asks
 * for a sign of life often enough that the others stay valid.
 *
 * <p>It goes on ticking for one period after the last hold is gone, so that locking and unlocking
 * in a loop sets no timer each time.
 */
final class Watch {
  /** Signs of life within one ttl, so that one or two may fail. */
  private static final int PROBES_PER_TTL = 3;

  private static final long SHORTEST_INTERVAL_NANOS = 5_000_000;

  private final Scheduler scheduler;
  private final Ticker ticker;
  private final long probeIntervalNanos;
  private final Holds owner;
  private final Set<Hold> holds = ConcurrentHashMap.newKeySet();

  private final Object gate = new Object();
  private Scheduler.@Nullable Timer timer; // These four are guarded by the gate.
  private long nextTickAt;
  private boolean probing;
  private boolean closed;
  private volatile long lastTickAt;
  private volatile long lastProbeAt;

  Watch(Scheduler scheduler, Ticker ticker, Duration probeInterval, Holds owner) {
    this.scheduler = scheduler;
    this.ticker = ticker;
    this.probeIntervalNanos = Scheduler.toNanosSaturated(probeInterval);
    this.owner = owner;
    this.lastTickAt = ticker.nanoTime();
    this.lastProbeAt = lastTickAt;
  }

  Set<Hold> holds() {
    return Set.copyOf(holds);
  }

  void add(Hold hold) {
    holds.add(hold);
    armWithin(Math.min(interval(hold), hold.remainingNanos()));
    if (!hold.isHeld()) {
      holds.remove(hold); // It ended while it was being added.
    }
  }

  void remove(Hold hold) {
    holds.remove(hold);
  }

  /** Whether this process itself did nothing for so long: then the server is not to blame. */
  boolean stoodStill(long nanos) {
    return ticker.nanoTime() - lastTickAt > nanos;
  }

  void close() {
    synchronized (gate) {
      closed = true;
      if (timer != null) {
        timer.cancel();
        timer = null;
      }
    }
    holds.clear();
  }

  private void armWithin(long delayNanos) {
    long now = ticker.nanoTime();
    long at = now + Math.max(0, delayNanos);
    synchronized (gate) {
      if (closed || (timer != null && nextTickAt - at <= 0)) {
        return;
      }
      if (timer == null) {
        lastTickAt = now; // Nobody was to tick before.
      } else {
        timer.cancel();
      }
      nextTickAt = at;
      timer = scheduler.schedule(this::tick, at - now);
    }
  }

  /** The timer is set anew whatever happens in between: without it, no loss would be reported. */
  private void tick() {
    long now = ticker.nanoTime();
    synchronized (gate) {
      timer = null;
    }
    long next = SHORTEST_INTERVAL_NANOS;
    try {
      next = lookAfter(now);
    } finally {
      if (next != Long.MAX_VALUE) {
        armWithin(next);
      }
    }
  }

  /** Ends and probes what is due; gives the time until the next look, if there is to be one. */
  private long lookAfter(long now) {
    owner.noticeForgotten();
    long next = Long.MAX_VALUE;
    long interval = Long.MAX_VALUE;
    for (Hold hold : holds) {
      long left = hold.remainingNanos();
      if (left <= 0) {
        owner.expire(hold);
      } else {
        next = Math.min(next, left);
        interval = Math.min(interval, interval(hold));
      }
    }
    lastTickAt = now;
    if (next == Long.MAX_VALUE) {
      return next;
    }
    long untilProbe = interval - (now - lastProbeAt);
    if (untilProbe <= 0) {
      startProbe(now);
      untilProbe = interval;
    }
    return Math.min(next, untilProbe);
  }

  private void startProbe(long now) {
    synchronized (gate) {
      if (probing) {
        return;
      }
      probing = true;
    }
    lastProbeAt = now;
    scheduler.execute(
        () -> {
          try {
            bySession().forEach(owner::probe);
          } finally {
            synchronized (gate) {
              probing = false;
            }
          }
        });
  }

  private Map<AdvisorySession, List<Hold>> bySession() {
    return holds.stream().collect(Collectors.groupingBy(Hold::session));
  }

  private long interval(Hold hold) {
    long interval = Math.min(probeIntervalNanos, hold.ttlNanos() / PROBES_PER_TTL);
    long idleLimit = hold.session().opened().idleLimit().toNanos();
    if (idleLimit > 0) {
      interval = Math.min(interval, idleLimit / PROBES_PER_TTL);
    }
    return Math.max(SHORTEST_INTERVAL_NANOS, interval);
  }
}
