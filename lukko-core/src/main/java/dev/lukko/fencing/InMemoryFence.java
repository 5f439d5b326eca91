package dev.lukko.fencing;

import dev.lukko.LockException;
import dev.lukko.time.Scheduler;
import dev.lukko.time.Ticker;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A fence in this JVM's memory: for a service that alone owns the resource, such as the only writer
 * of a file or the only server in front of a device.
 *
 * <p>{@link #run} makes the check and the write one step: while its body runs, every other call for
 * the same resource waits, no longer than {@link Builder#maxWait}. Calls for different resources do
 * not meet.
 *
 * <p><b>Memory and retention.</b> One entry per resource, kept for {@link Builder#retention} after
 * its last contact, by default 7 days, which is how long nodes keep a resource's token counter.
 * Forgetting an entry means that a holder paused for longer than that would be believed again. When
 * {@link Builder#maxResources} entries are all inside their retention, a contact with a new
 * resource is refused rather than an old entry forgotten.
 *
 * <p><b>A restart forgets everything.</b> Where that must not let a stale holder in, use a fence
 * that lives with the data.
 *
 * <p>Thread-safe.
 */
public final class InMemoryFence implements Fence {
  private static final int FIRST_SWEEP = 1024;

  private final ConcurrentHashMap<String, FenceEntry> entries = new ConcurrentHashMap<>();
  private final AtomicInteger sweepAt = new AtomicInteger(FIRST_SWEEP);
  private final boolean strict;
  private final long retentionNanos;
  private final long maxWaitNanos;
  private final int maxResources;
  private final Ticker ticker;

  /** A fence that lets a holder write several times; everything else by default. */
  public InMemoryFence() {
    this(builder());
  }

  private InMemoryFence(Builder builder) {
    this.strict = builder.strict;
    this.retentionNanos = builder.retentionNanos;
    this.maxWaitNanos = builder.maxWaitNanos;
    this.maxResources = builder.maxResources;
    this.ticker = builder.ticker;
  }

  /** A builder with the defaults. */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * {@inheritDoc}
   *
   * @throws LockException if a body of {@link #run} for the same resource did not end within the
   *     longest wait, or the thread was interrupted while it waited (its flag is set)
   */
  @Override
  public void check(String resource, long token) {
    leave(enter(resource, token, strict, true));
  }

  /**
   * {@inheritDoc}
   *
   * @throws LockException as {@link #check(String, long)} does
   */
  @Override
  public void touch(String resource, long token) {
    leave(enter(resource, token, false, false));
  }

  /**
   * Checks the token and runs the body as one step. The token stays remembered if the body throws.
   *
   * @return what the body returned
   * @throws StaleTokenException if the token is refused; the body did not run
   * @throws LockException as {@link #check(String, long)} does; the body did not run
   * @throws Exception what the body threw
   */
  public <T extends @Nullable Object> T run(String resource, long token, Callable<T> body)
      throws Exception {
    FenceEntry entry = enter(resource, token, strict, true);
    try {
      return body.call();
    } finally {
      leave(entry);
    }
  }

  /** How many resources are remembered. */
  public int size() {
    return entries.size();
  }

  private void leave(FenceEntry entry) {
    entry.lastContactNanos = ticker.nanoTime();
    entry.lock.unlock();
  }

  private FenceEntry enter(String resource, long token, boolean once, boolean write) {
    FenceArguments.resource(resource);
    FenceArguments.token(token);
    FenceEntry entry = locked(resource);
    boolean accepted = false;
    try {
      if (token < entry.highest || (once && token == entry.written)) {
        throw new StaleTokenException(resource, token, entry.highest);
      }
      entry.highest = token;
      if (write) {
        entry.written = token;
      }
      accepted = true;
      return entry;
    } finally {
      if (!accepted) {
        leave(entry);
      }
    }
  }

  private FenceEntry locked(String resource) {
    while (true) {
      FenceEntry entry = entries.get(resource);
      if (entry == null) {
        makeRoom(resource);
        entry = entries.computeIfAbsent(resource, name -> new FenceEntry(ticker.nanoTime()));
      }
      lock(resource, entry);
      if (!entry.forgotten) {
        return entry;
      }
      entry.lock.unlock();
    }
  }

  private void lock(String resource, FenceEntry entry) {
    try {
      // The plain form first: the timed one throws in an interrupted thread although nobody is in.
      if (entry.lock.tryLock() || entry.lock.tryLock(maxWaitNanos, TimeUnit.NANOSECONDS)) {
        return;
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new LockException(
          "interrupted while waiting for a write to \"" + resource + "\" to end", interrupted);
    }
    throw new LockException(
        "gave up after "
            + TimeUnit.NANOSECONDS.toMillis(maxWaitNanos)
            + " ms: another write to \""
            + resource
            + "\" is still running under the fence");
  }

  /** Sweeps when the map has doubled since the last sweep, so that its cost stays constant. */
  private void makeRoom(String resource) {
    int limit = sweepAt.get();
    if (entries.size() < Math.min(limit, maxResources)) {
      return;
    }
    sweep();
    int size = entries.size();
    if (size >= maxResources) {
      throw new LockException(
          "the fence remembers "
              + size
              + " resources, all inside their retention, and has no room for \""
              + resource
              + "\"; raise maxResources or lower the retention");
    }
    sweepAt.compareAndSet(
        limit, (int) Math.min(Integer.MAX_VALUE, Math.max(FIRST_SWEEP, 2L * size)));
  }

  private void sweep() {
    long now = ticker.nanoTime();
    entries.forEach(
        (name, entry) -> {
          // An entry in use is in contact right now; it is not waited for.
          if (entry.lock.tryLock()) {
            try {
              // More than one hold: this very thread is inside a body of that resource.
              if (entry.lock.getHoldCount() == 1 && now - entry.lastContactNanos > retentionNanos) {
                entry.forgotten = true;
                entries.remove(name, entry);
              }
            } finally {
              entry.lock.unlock();
            }
          }
        });
  }

  /** Collects the settings of an in-memory fence; each setter checks at once. Not thread-safe. */
  public static final class Builder {
    private boolean strict;
    private long retentionNanos = TimeUnit.DAYS.toNanos(7);
    private long maxWaitNanos = TimeUnit.SECONDS.toNanos(10);
    private int maxResources = 1_000_000;
    private Ticker ticker = Ticker.system();

    private Builder() {}

    /** Accepts each token for one write only. Default: off, equal tokens pass. */
    public Builder strict() {
      this.strict = true;
      return this;
    }

    /** How long an entry is kept after its last contact; positive. Default: 7 days. */
    public Builder retention(Duration retention) {
      this.retentionNanos = positiveNanos("retention", retention);
      return this;
    }

    /** How long a call waits for a running body of the same resource; positive. Default: 10 s. */
    public Builder maxWait(Duration maxWait) {
      this.maxWaitNanos = positiveNanos("maxWait", maxWait);
      return this;
    }

    /**
     * How many resources are remembered at most, give or take one per concurrent caller; at least
     * 1. Default: 1,000,000.
     */
    public Builder maxResources(int maxResources) {
      if (maxResources < 1) {
        throw new IllegalArgumentException(
            "maxResources is " + maxResources + "; it must be at least 1");
      }
      this.maxResources = maxResources;
      return this;
    }

    /** The clock by which the retention is judged. Default: the system's. */
    public Builder ticker(Ticker ticker) {
      this.ticker = ticker;
      return this;
    }

    /** The fence. */
    public InMemoryFence build() {
      return new InMemoryFence(this);
    }

    private static long positiveNanos(String field, Duration value) {
      if (value.isZero() || value.isNegative()) {
        throw new IllegalArgumentException(field + " is " + value + "; it must be positive");
      }
      return Scheduler.toNanosSaturated(value);
    }
  }
}
