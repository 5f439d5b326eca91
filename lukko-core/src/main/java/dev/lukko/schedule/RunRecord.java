package dev.lukko.schedule;

import dev.lukko.Lease;
import dev.lukko.fencing.StaleTokenException;
import dev.lukko.schedule.JobRun.Outcome;
import dev.lukko.schedule.LastRunStore.Decision;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/** What the store is told about one run; each thing once more if the first try fails. */
final class RunRecord {
  private final LastRunStore store;
  private final String job;
  private final Instant tick;
  private final Lease lease;
  private final String runner;

  RunRecord(LastRunStore store, String job, Instant tick, Lease lease, String runner) {
    this.store = store;
    this.job = job;
    this.tick = tick;
    this.lease = lease;
    this.runner = runner;
  }

  Decision begin(Set<Outcome> rerunAfter) {
    return twice(() -> store.begin(job, tick, lease.fencingToken(), runner, rerunAfter));
  }

  /** False if another run of the job had begun meanwhile. */
  boolean finish(Outcome outcome, Optional<String> error) {
    try {
      return twice(() -> store.finish(job, tick, lease.fencingToken(), outcome, error));
    } catch (RuntimeException unwritten) {
      throw new RunNotRecordedException(job, tick, outcome, unwritten);
    }
  }

  /** The error of one whose token is not the highest. */
  StaleTokenException stale() {
    long highest =
        store.history(job, 1).stream().mapToLong(JobRun::fencingToken).findFirst().orElse(0);
    return new StaleTokenException(
        "job:" + job, lease.fencingToken(), Math.max(highest, lease.fencingToken()));
  }

  /** A connection that broke while it lay in a pool is the commonest failure; a fresh one helps. */
  private static <T> T twice(Supplier<T> call) {
    try {
      return call.get();
    } catch (RuntimeException first) {
      try {
        return call.get();
      } catch (RuntimeException second) {
        second.addSuppressed(first);
        throw second;
      }
    }
  }
}
