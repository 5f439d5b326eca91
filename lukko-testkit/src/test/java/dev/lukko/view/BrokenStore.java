package dev.lukko.view;

import dev.lukko.LockException;
import dev.lukko.schedule.JobRun;
import dev.lukko.schedule.LastRunStore;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/** A store whose next calls of a kind fail, before they have done their work or after it. */
final class BrokenStore implements LastRunStore {
  int refusedBegins;
  int lostBegins;
  int refusedFinishes;
  int lostFinishes;
  int refusedPrunes;

  private final LastRunStore store;

  BrokenStore(LastRunStore store) {
    this.store = store;
  }

  @Override
  public Instant now() {
    return store.now();
  }

  @Override
  public Decision begin(
      String job, Instant tick, long token, String runner, Set<JobRun.Outcome> rerunAfter) {
    failIf(refusedBegins-- > 0);
    return answer(lostBegins-- > 0, () -> store.begin(job, tick, token, runner, rerunAfter));
  }

  @Override
  public boolean finish(
      String job, Instant tick, long token, JobRun.Outcome outcome, Optional<String> error) {
    failIf(refusedFinishes-- > 0);
    return answer(lostFinishes-- > 0, () -> store.finish(job, tick, token, outcome, error));
  }

  @Override
  public List<JobRun> history(String job, int limit) {
    return store.history(job, limit);
  }

  @Override
  public void prune(String job, Instant before) {
    failIf(refusedPrunes-- > 0);
    store.prune(job, before);
  }

  private static <T> T answer(boolean lost, Supplier<T> call) {
    T result = call.get();
    failIf(lost);
    return result;
  }

  private static void failIf(boolean broken) {
    if (broken) {
      throw new LockException("the store cannot be reached");
    }
  }
}
