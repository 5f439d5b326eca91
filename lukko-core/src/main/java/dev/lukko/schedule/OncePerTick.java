package dev.lukko.schedule;

import dev.lukko.Lease;
import dev.lukko.LeaseAction;
import dev.lukko.LockClient;
import dev.lukko.LockRequest;
import dev.lukko.schedule.JobRun.Outcome;
import dev.lukko.schedule.LastRunStore.Decision;
import dev.lukko.spi.ProcessName;
import dev.lukko.time.Scheduler;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Runs a job once for each scheduled instant, however many replicas want to.
 *
 * <pre>{@code
 * // In every replica, whenever its own scheduler fires:
 * once.run("nightly-report", Duration.ofHours(24), lease -> report(lease.fencingToken()));
 * }</pre>
 *
 * <p><b>Why a lock is not enough.</b> A lock says that nobody runs the job now. A job of a
 * millisecond is over, and its lock free, before a replica whose clock is a second behind asks for
 * it; that one runs it again. Here a run belongs to a <em>tick</em>, the scheduled instant, and not
 * to the moment at which somebody fired; and the store remembers the last tick that had its run.
 * The lock is for the time of the run: it keeps a tick from beginning while an earlier one runs,
 * and tells whether a run that never ended is still going on.
 *
 * <p><b>Clocks.</b> Which tick is due is judged by the store's clock alone, so replicas with wrong
 * clocks run nothing twice and nothing before its time. A replica that fires a little early waits
 * until the tick is due (see {@link Builder#maxEarly}); one whose clock is further ahead is told
 * that it is not due. One whose clock is behind finds that the tick has had its run.
 *
 * <p><b>When a run fails</b>, its tick has had its run, and the caller gets what the body threw.
 * When a replica dies in the middle, its tick is not run again either: at most once. {@link
 * Builder#rerunAfter} changes that to at least once: the next that asks for the same tick runs it
 * again, under a higher fencing token, as soon as the lock is free.
 *
 * <p><b>Missed ticks</b> are not made up one by one. When all replicas were down, or a run took
 * longer than the time between two ticks, the next that asks runs the last tick that is due, late,
 * and the ones before it never; or nothing, if it is {@linkplain Builder#skipLaterThan too late}.
 *
 * <p><b>A holder that lost its lease</b> without knowing cannot begin anything once another has run
 * the job: the store refuses tokens that are not the highest. A body that goes on after such a loss
 * is refused by what it writes to, if that checks the {@linkplain Lease#fencingToken() fencing
 * token}.
 *
 * <p>Works on any {@link LockClient}. Thread-safe. Closing it ends waits for a tick that is not
 * quite due; it does not close the lock client.
 */
public final class OncePerTick implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(OncePerTick.class.getName());

  /** What every store can keep. */
  private static final Instant FIRST = Instant.parse("0001-01-01T00:00:00Z");

  private static final Instant LAST = Instant.parse("9999-12-31T23:59:59Z");

  private final LockClient locks;
  private final LastRunStore store;
  private final DueWait dueWait;
  private final Duration ttl;
  private final Duration maxWait;
  private final Duration maxEarly;
  private final @Nullable Duration skipLaterThan;
  private final @Nullable Duration keepHistory;
  private final Set<Outcome> rerunAfter;
  private final String runner;
  private final String prefix;

  private OncePerTick(Builder builder) {
    locks = builder.locks;
    store = builder.store;
    dueWait = new DueWait(store, builder.scheduler);
    ttl = builder.ttl;
    maxWait = builder.maxWait;
    maxEarly = builder.maxEarly;
    skipLaterThan = builder.skipLaterThan;
    keepHistory = builder.keepHistory;
    rerunAfter = Set.copyOf(builder.rerunAfter);
    runner = builder.runner;
    prefix = builder.prefix;
  }

  /** One with default settings. */
  public static OncePerTick over(LockClient locks, LastRunStore store) {
    return builder(locks, store).build();
  }

  /** A builder with default settings. */
  public static Builder builder(LockClient locks, LastRunStore store) {
    return new Builder(locks, store);
  }

  /** What came of asking for a run. */
  public enum Result {
    /** This replica ran it, and the body returned. */
    RAN,
    /** The tick, or a later one, has had its run. */
    ALREADY_RAN,
    /** Another replica runs this tick now, or has not ended the run of an earlier one. */
    RUNNING_ELSEWHERE,
    /** By the store's clock the tick is still to come. */
    NOT_DUE,
    /** The tick was too late to be run; it is in the history as skipped. */
    SKIPPED
  }

  /**
   * Runs the job for the latest tick that is due, if it has not had its run. The ticks are the
   * multiples of the period since 1970-01-01T00:00:00Z. If the latest one has had its run and the
   * next is nearer than {@link Builder#maxEarly} and a quarter of the period, it waits for that.
   *
   * @param name the job's name, which is also the name that is locked, behind {@code job:} and the
   *     {@linkplain Builder#application application}; 1 to 251 characters with that, no control
   *     characters
   * @param period the time between two ticks, 1 ms to 36500 days, in whole milliseconds
   * @param body the work; in this thread, under a lease that is extended while it runs
   * @throws X what the body threw; the run is in the history as failed, and its tick has had it
   * @throws dev.lukko.LeaseLostException if the lease was lost before the body returned
   * @throws RunNotRecordedException if the body returned, and the store could not be told
   * @throws dev.lukko.LockException if the lock or the store could not be reached: nothing was run
   */
  public <X extends Throwable> Result run(String name, Duration period, LeaseAction<X> body)
      throws X {
    String job = named(name);
    LockRequest request = request(job, Duration.ZERO);
    if (period == null
        || period.compareTo(Duration.ofMillis(1)) < 0
        || period.compareTo(Builder.LONGEST) > 0
        || period.toNanosPart() % 1_000_000 != 0) {
      throw new IllegalArgumentException(
          "period is " + period + "; it must be 1 ms to 36500 days, in whole milliseconds");
    }
    long millis = period.toMillis();
    Instant now = store.now();
    Instant latest = Instant.ofEpochMilli(Math.floorDiv(now.toEpochMilli(), millis) * millis);
    Instant next = latest.plusMillis(millis);
    Duration quarter = period.dividedBy(4);
    Duration early = maxEarly.compareTo(quarter) < 0 ? maxEarly : quarter;
    boolean nextIsNear = !next.minus(early).isAfter(now);
    return nextIsNear && hadItsRun(job, latest)
        ? whenDue(request, job, next, body)
        : begin(request, job, latest, body);
  }

  /**
   * Runs the job for one tick, if it is due and has not had its run; for schedules that are no
   * plain period, such as cron.
   *
   * @param tick the scheduled instant, the same in all replicas: not the time at which it fired;
   *     from year 1 to 9999, cut to whole microseconds
   * @throws X what the body threw
   * @throws dev.lukko.LeaseLostException as {@link #run(String, Duration, LeaseAction)} does
   */
  public <X extends Throwable> Result run(String name, Instant tick, LeaseAction<X> body) throws X {
    String job = named(name);
    LockRequest request = request(job, Duration.ZERO);
    if (tick == null || tick.isBefore(FIRST) || tick.isAfter(LAST)) {
      throw new IllegalArgumentException(
          "tick is " + tick + "; it must be from " + FIRST + " to " + LAST);
    }
    return whenDue(request, job, tick.truncatedTo(ChronoUnit.MICROS), body);
  }

  /** The latest runs of a job, the last tick first; {@code limit} is at least 1. */
  public List<JobRun> history(String job, int limit) {
    if (limit < 1) {
      throw new IllegalArgumentException("limit is " + limit + "; it must be at least 1");
    }
    return store.history(named(job), limit);
  }

  @Override
  public void close() {
    dueWait.close();
  }

  /** The name of a job in the store, and behind {@code job:} the one that is locked. */
  private String named(String job) {
    int most = LockRequest.MAX_NAME_LENGTH - 4 - prefix.length();
    if (job == null || job.isEmpty() || job.length() > most) {
      throw new IllegalArgumentException(
          "job is \"" + job + "\"; it must have 1 to " + most + " characters");
    }
    return prefix + job;
  }

  private <X extends Throwable> Result whenDue(
      LockRequest request, String job, Instant tick, LeaseAction<X> body) throws X {
    Objects.requireNonNull(body, "body");
    Duration missing = dueWait.until(request.resources(), tick, maxEarly);
    if (missing.isZero()) {
      return begin(request, job, tick, body);
    }
    LOG.log(
        System.Logger.Level.INFO,
        "tick {0} of job {1} is not due for {2} by the store''s clock",
        tick,
        job,
        missing);
    return Result.NOT_DUE;
  }

  private boolean hadItsRun(String job, Instant tick) {
    return store.history(job, 1).stream().anyMatch(last -> refuses(last, tick));
  }

  private boolean refuses(JobRun last, Instant tick) {
    return last.tick().isAfter(tick)
        || (last.tick().equals(tick) && !rerunAfter.contains(last.outcome()));
  }

  private <X extends Throwable> Result begin(
      LockRequest request, String job, Instant tick, LeaseAction<X> body) throws X {
    Objects.requireNonNull(body, "body");
    Optional<Lease> granted = locks.tryAcquire(request);
    if (granted.isEmpty()) {
      Optional<JobRun> last = store.history(job, 1).stream().findFirst();
      if (last.isPresent() && !last.get().tick().isBefore(tick)) {
        boolean runs =
            last.get().tick().equals(tick)
                && (last.get().outcome() == Outcome.RUNNING
                    || rerunAfter.contains(last.get().outcome()));
        return runs ? Result.RUNNING_ELSEWHERE : Result.ALREADY_RAN;
      }
      // Nobody has begun this tick: who has the lock is about to, or only looks, or dies before it
      // begins. Going away now could leave the tick to nobody.
      granted = locks.tryAcquire(request(job, maxWait));
    }
    return granted.isEmpty()
        ? Result.RUNNING_ELSEWHERE
        : underLease(granted.get(), job, tick, body);
  }

  private LockRequest request(String job, Duration wait) {
    return LockRequest.builder("job:" + job).ttl(ttl).maxWait(wait).autoExtend(true).build();
  }

  private <X extends Throwable> Result underLease(
      Lease lease, String job, Instant tick, LeaseAction<X> body) throws X {
    try {
      RunRecord run = new RunRecord(store, job, tick, lease, runner);
      Decision decision = run.begin(rerunAfter);
      if (decision == Decision.HAD_ITS_RUN) {
        return Result.ALREADY_RAN;
      }
      if (decision == Decision.STALE_TOKEN) {
        lease.ensureValid(); // Most likely it is not, and the reason is known.
        throw run.stale();
      }
      if (skipLaterThan != null && tick.plus(skipLaterThan).isBefore(store.now())) {
        run.finish(Outcome.SKIPPED, Optional.empty());
        return Result.SKIPPED;
      }
      work(run, lease, body);
      prune(job);
      return Result.RAN;
    } finally {
      lease.release();
    }
  }

  private static <X extends Throwable> void work(RunRecord run, Lease lease, LeaseAction<X> body)
      throws X {
    try {
      if (lease.isValid()) { // Else the store took so long that another may run it by now.
        body.run(lease);
      }
    } catch (Throwable failure) {
      Outcome outcome = lease.isValid() ? Outcome.FAILED : Outcome.LOST;
      try {
        run.finish(outcome, Optional.of(failure.toString()));
      } catch (RuntimeException unwritten) {
        failure.addSuppressed(unwritten);
      }
      throw failure;
    }
    boolean kept = lease.isValid();
    boolean isLast = run.finish(kept ? Outcome.SUCCEEDED : Outcome.LOST, Optional.empty());
    lease.ensureValid();
    if (!isLast) {
      throw run.stale();
    }
  }

  private void prune(String job) {
    if (keepHistory == null) {
      return;
    }
    try {
      store.prune(job, store.now().minus(keepHistory));
    } catch (RuntimeException later) {
      LOG.log(
          System.Logger.Level.WARNING,
          "the history of job " + job + " was not shortened; the next run tries again",
          later);
    }
  }

  /** Collects the settings; each setter checks its value. Not thread-safe. */
  public static final class Builder {
    private static final Duration LONGEST = Duration.ofDays(36_500);

    private final LockClient locks;
    private final LastRunStore store;
    private Duration ttl = Duration.ofSeconds(30);
    private Duration maxWait = Duration.ofSeconds(1);
    private Duration maxEarly = Duration.ofSeconds(10);
    private @Nullable Duration skipLaterThan;
    private @Nullable Duration keepHistory = Duration.ofDays(90);
    private final Set<Outcome> rerunAfter = EnumSet.noneOf(Outcome.class);
    private String runner = ProcessName.get();
    private String prefix = "";
    private @Nullable Scheduler scheduler;

    private Builder(LockClient locks, LastRunStore store) {
      this.locks = Objects.requireNonNull(locks, "locks");
      this.store = Objects.requireNonNull(store, "store");
    }

    /**
     * Sets the application whose jobs these are. Two applications with one store have a job of the
     * same name each, {@code billing/nightly} and {@code shop/nightly}; without this the second one
     * finds that the tick has had its run. It must be the same in all replicas; none by default.
     *
     * @param name 1 to 100 characters, no slash
     */
    public Builder application(String name) {
      if (name == null || name.isEmpty() || name.length() > 100 || name.contains("/")) {
        throw new IllegalArgumentException(
            "application is \"" + name + "\"; it must have 1 to 100 characters, and no slash");
      }
      prefix = name + "/";
      return this;
    }

    /**
     * Sets the ttl of the lease, which is extended while the body runs: at least 1 ms, default 30
     * s.
     */
    public Builder ttl(Duration ttl) {
      if (ttl == null || ttl.compareTo(Duration.ofMillis(1)) < 0) {
        throw new IllegalArgumentException("ttl is " + ttl + "; it must be at least 1 ms");
      }
      this.ttl = ttl;
      return this;
    }

    /**
     * Sets how long to wait while another holds the job's lock and has not begun the tick: zero or
     * more, default 1 s. Longer than the ttl, it covers a replica that dies between taking the lock
     * and beginning; longer than the longest run, a tick that comes due while an earlier one runs.
     */
    public Builder maxWait(Duration maxWait) {
      if (maxWait == null || maxWait.isNegative()) {
        throw new IllegalArgumentException("maxWait is " + maxWait + "; it must not be negative");
      }
      this.maxWait = maxWait;
      return this;
    }

    /**
     * Sets how much too early a replica may fire, by the store's clock: 0 to 1 h, default 10 s. The
     * call then waits until the tick is due. Further ahead it returns {@link Result#NOT_DUE}.
     */
    public Builder maxEarly(Duration maxEarly) {
      this.maxEarly = between("maxEarly", maxEarly, Duration.ZERO, Duration.ofHours(1));
      return this;
    }

    /**
     * Sets from which lateness on a tick is skipped instead of run, 0 to 36500 days, by the store's
     * clock. Default never: after an outage the last missed tick is run once.
     */
    public Builder skipLaterThan(Duration skipLaterThan) {
      this.skipLaterThan = between("skipLaterThan", skipLaterThan, Duration.ZERO, LONGEST);
      return this;
    }

    /**
     * Allows a tick to run again after runs that ended so, for the next that asks for it; default
     * none. {@link Outcome#RUNNING} is the run of a replica that died, or lost its lease and has
     * not noticed.
     *
     * @param outcomes among {@code RUNNING}, {@code FAILED} and {@code LOST}
     */
    public Builder rerunAfter(Outcome... outcomes) {
      for (Outcome outcome : outcomes) {
        if (outcome != Outcome.RUNNING && outcome != Outcome.FAILED && outcome != Outcome.LOST) {
          throw new IllegalArgumentException(
              "rerunAfter is " + outcome + "; it must be RUNNING, FAILED or LOST");
        }
      }
      rerunAfter.clear();
      rerunAfter.addAll(List.of(outcomes));
      return this;
    }

    /**
     * Sets how long the history keeps runs, 0 to 36500 days, default 90 days; the last run of a job
     * always stays.
     */
    public Builder keepHistory(Duration keepHistory) {
      this.keepHistory = between("keepHistory", keepHistory, Duration.ZERO, LONGEST);
      return this;
    }

    /** Leaves the history to be shortened by somebody else. */
    public Builder keepHistoryForever() {
      this.keepHistory = null;
      return this;
    }

    /**
     * Sets how this replica is called in the history, 1 to 255 characters, no control characters;
     * default process number and host name.
     */
    public Builder runner(String runner) {
      if (runner == null
          || runner.isEmpty()
          || runner.length() > 255
          || runner.chars().anyMatch(Character::isISOControl)) {
        throw new IllegalArgumentException(
            "runner is \""
                + runner
                + "\"; it must have 1 to 255 characters and no control characters");
      }
      this.runner = runner;
      return this;
    }

    /** Sets the timers for a tick that is not quite due; default one of its own. */
    public Builder scheduler(Scheduler scheduler) {
      this.scheduler = Objects.requireNonNull(scheduler, "scheduler");
      return this;
    }

    /** The runner of jobs. */
    public OncePerTick build() {
      return new OncePerTick(this);
    }

    private static Duration between(String field, Duration value, Duration least, Duration most) {
      if (value == null || value.compareTo(least) < 0 || value.compareTo(most) > 0) {
        throw new IllegalArgumentException(
            field + " is " + value + "; it must be from " + least + " to " + most);
      }
      return value;
    }
  }
}
