package dev.lukko.schedule;

import dev.lukko.schedule.JobRun.Outcome;
import dev.lukko.time.Ticker;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Remembers which scheduled instants of a job have had their run, for all replicas, and has the
 * clock by which they are due.
 *
 * <p>For each job a store keeps its last run, which decides, and a history for people. Each method
 * is one atomic step against all others of the same job, in whatever process. A store that cannot
 * be reached makes a method throw an unchecked exception within a bounded time. Implementations are
 * thread-safe.
 */
public interface LastRunStore {

  /** The time by the clock that all replicas share. */
  Instant now();

  /**
   * Writes down that a run begins, if it may.
   *
   * <p>It may, if neither this tick nor a later one of the job has had its run, and no run of the
   * job had a token as high as this one. A tick whose run ended with an outcome in {@code
   * rerunAfter} counts as not having had it. What was begun with this very token and tick, and has
   * not ended, is begun again with the same answer, so that a call whose answer was lost can be
   * repeated.
   *
   * @param tick the scheduled instant, in whole microseconds
   * @param fencingToken the token of the lease under which it is to run
   * @param runner who runs it, for people
   * @param rerunAfter the outcomes after which the same tick may run again
   */
  Decision begin(
      String job, Instant tick, long fencingToken, String runner, Set<Outcome> rerunAfter);

  /**
   * Writes down how a run ended.
   *
   * @param error why it failed, or empty
   * @return false if a run with a higher token had begun meanwhile; the history has the outcome all
   *     the same
   */
  boolean finish(
      String job, Instant tick, long fencingToken, Outcome outcome, Optional<String> error);

  /**
   * The latest runs of a job: the last tick first, and of one tick the highest token first.
   *
   * @param limit how many at most; at least 1
   */
  List<JobRun> history(String job, int limit);

  /** Deletes from the history what was for ticks before this one. The last run of the job stays. */
  void prune(String job, Instant before);

  /** Keeps the runs in this process, by the given clock: for tests, and for a single replica. */
  static LastRunStore inMemory(Ticker ticker) {
    return new InMemoryLastRunStore(ticker);
  }

  /** Whether a run may begin. */
  enum Decision {
    /** It may, and is written down. */
    BEGUN,
    /** This tick, or a later one, has had its run. */
    HAD_ITS_RUN,
    /**
     * A run with a token as high as this one's, or higher, has begun: the caller's lease is over.
     */
    STALE_TOKEN
  }
}
