package dev.lukko.schedule;

import dev.lukko.LockException;
import java.time.Instant;

/**
 * A job ran, and how it ended could not be written down. Its tick has had its run, and stands in
 * the history as running. With {@link OncePerTick.Builder#rerunAfter} and {@link
 * JobRun.Outcome#RUNNING} the tick may run once more.
 */
public final class RunNotRecordedException extends LockException {
  private static final long serialVersionUID = 1L;

  private final String job;
  private final Instant tick;
  private final JobRun.Outcome outcome;

  /** An error for a run whose end the store did not take. */
  public RunNotRecordedException(
      String job, Instant tick, JobRun.Outcome outcome, RuntimeException cause) {
    super(
        "the run of job \""
            + job
            + "\" for tick "
            + tick
            + " ended as "
            + outcome
            + ", which could not be written down: "
            + cause.getMessage(),
        cause);
    this.job = job;
    this.tick = tick;
    this.outcome = outcome;
  }

  /** The job. */
  public String job() {
    return job;
  }

  /** The scheduled instant. */
  public Instant tick() {
    return tick;
  }

  /** How the run ended. */
  public JobRun.Outcome outcome() {
    return outcome;
  }
}
