package dev.lukko.schedule;

import dev.lukko.schedule.JobRun.Outcome;
import dev.lukko.time.Ticker;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The history of jobs in this process; gone with it. */
final class InMemoryLastRunStore implements LastRunStore {
  private final Ticker ticker;
  private final Map<String, Deque<JobRun>> jobs = new HashMap<>(); // The last run comes first.

  InMemoryLastRunStore(Ticker ticker) {
    this.ticker = Objects.requireNonNull(ticker, "ticker");
  }

  @Override
  public Instant now() {
    return ticker.wallInstant();
  }

  @Override
  public synchronized Decision begin(
      String job, Instant tick, long fencingToken, String runner, Set<Outcome> rerunAfter) {
    Deque<JobRun> runs = runs(job);
    JobRun last = runs.peekFirst();
    if (last != null) {
      boolean sameTick = last.tick().equals(tick);
      if (sameTick && last.fencingToken() == fencingToken && isRunning(last)) {
        return Decision.BEGUN;
      }
      if (last.tick().isAfter(tick) || (sameTick && !rerunAfter.contains(last.outcome()))) {
        return Decision.HAD_ITS_RUN;
      }
      if (last.fencingToken() >= fencingToken) {
        return Decision.STALE_TOKEN;
      }
      if (isRunning(last)) {
        runs.removeFirst();
        runs.addFirst(last.ended(Outcome.ABANDONED, Optional.empty(), now()));
      }
    }
    runs.addFirst(
        new JobRun(
            job,
            tick,
            fencingToken,
            runner,
            now(),
            Optional.empty(),
            Outcome.RUNNING,
            Optional.empty()));
    return Decision.BEGUN;
  }

  private static boolean isRunning(JobRun run) {
    return run.outcome() == Outcome.RUNNING;
  }

  @Override
  public synchronized boolean finish(
      String job, Instant tick, long fencingToken, Outcome outcome, Optional<String> error) {
    Deque<JobRun> runs = runs(job);
    boolean isLast = isRun(runs.peekFirst(), tick, fencingToken);
    List<JobRun> rewritten =
        runs.stream()
            .map(run -> isRun(run, tick, fencingToken) ? run.ended(outcome, error, now()) : run)
            .toList();
    runs.clear();
    runs.addAll(rewritten);
    return isLast;
  }

  private static boolean isRun(@Nullable JobRun run, Instant tick, long fencingToken) {
    return run != null && run.tick().equals(tick) && run.fencingToken() == fencingToken;
  }

  @Override
  public synchronized List<JobRun> history(String job, int limit) {
    return runs(job).stream()
        .sorted(Comparator.comparing(JobRun::tick).thenComparing(JobRun::fencingToken).reversed())
        .limit(limit)
        .toList();
  }

  @Override
  public synchronized void prune(String job, Instant before) {
    Deque<JobRun> runs = runs(job);
    JobRun last = runs.peekFirst();
    runs.removeIf(run -> !run.equals(last) && run.tick().isBefore(before));
  }

  private Deque<JobRun> runs(String job) {
    return jobs.computeIfAbsent(job, name -> new ArrayDeque<>());
  }
}
