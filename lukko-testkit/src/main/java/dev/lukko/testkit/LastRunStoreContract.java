package dev.lukko.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.schedule.JobRun;
import dev.lukko.schedule.JobRun.Outcome;
import dev.lukko.schedule.LastRunStore;
import dev.lukko.schedule.LastRunStore.Decision;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What every store of last runs keeps to; a store's test extends this and gives an empty store. */
public abstract class LastRunStoreContract {
  private static final Instant TICK = Instant.parse("2026-01-31T03:00:00.000001Z");
  private static final Set<Outcome> NEVER = Set.of();
  private static final int RACERS = 8;

  private LastRunStore store;

  /** For subclasses. */
  protected LastRunStoreContract() {}

  /** A store without any run. */
  protected abstract LastRunStore emptyStore() throws Exception;

  @BeforeEach
  void open() throws Exception {
    store = emptyStore();
  }

  private Decision begin(Instant tick, long token, Set<Outcome> rerunAfter) {
    return store.begin("job", tick, token, "runner-" + token, rerunAfter);
  }

  private boolean finish(Instant tick, long token, Outcome outcome) {
    return store.finish("job", tick, token, outcome, Optional.empty());
  }

  @Test
  void shouldBeginEachTickOnceWhateverBecameOfIt() {
    Instant tick = TICK;
    long token = 1;
    for (Outcome outcome : Outcome.values()) {
      tick = tick.plusSeconds(1);
      token += 10;
      assertThat(begin(tick, token, NEVER)).isEqualTo(Decision.BEGUN);
      if (outcome != Outcome.RUNNING) {
        assertThat(finish(tick, token, outcome)).isTrue();
      }
      assertThat(begin(tick, token + 1, NEVER)).as("%s", outcome).isEqualTo(Decision.HAD_ITS_RUN);
    }
  }

  @Test
  void shouldRefuseATickBeforeTheLastOneAndTakeTheNext() {
    assertThat(begin(TICK, 1, NEVER)).isEqualTo(Decision.BEGUN);
    assertThat(begin(TICK.minusNanos(1_000), 2, Set.of(Outcome.RUNNING)))
        .isEqualTo(Decision.HAD_ITS_RUN);
    assertThat(begin(TICK.plusNanos(1_000), 3, NEVER)).isEqualTo(Decision.BEGUN);
  }

  @Test
  void shouldKeepJobsApart() {
    assertThat(begin(TICK, 5, NEVER)).isEqualTo(Decision.BEGUN);
    assertThat(store.begin("other", TICK, 1, "one", NEVER)).isEqualTo(Decision.BEGUN);
    assertThat(store.history("other", 10)).hasSize(1);
    assertThat(store.history("nobody", 10)).isEmpty();
  }

  @Test
  void shouldAnswerARepeatedBeginAsTheFirst() {
    assertThat(begin(TICK, 5, NEVER)).isEqualTo(Decision.BEGUN);
    assertThat(begin(TICK, 5, NEVER)).isEqualTo(Decision.BEGUN);
    assertThat(store.history("job", 10)).hasSize(1);
    finish(TICK, 5, Outcome.SUCCEEDED);
    assertThat(begin(TICK, 5, NEVER)).isEqualTo(Decision.HAD_ITS_RUN);
  }

  @Test
  void shouldRerunOnlyAfterTheOutcomesThatWereNamed() {
    begin(TICK, 1, NEVER);
    finish(TICK, 1, Outcome.FAILED);
    assertThat(begin(TICK, 2, Set.of(Outcome.RUNNING, Outcome.LOST)))
        .isEqualTo(Decision.HAD_ITS_RUN);
    assertThat(begin(TICK, 3, Set.of(Outcome.FAILED))).isEqualTo(Decision.BEGUN);
    finish(TICK, 3, Outcome.SUCCEEDED);
    assertThat(begin(TICK, 4, Set.of(Outcome.FAILED))).isEqualTo(Decision.HAD_ITS_RUN);
  }

  @Test
  void shouldRefuseATokenThatIsNotTheHighestAlsoForALaterTick() {
    begin(TICK, 5, NEVER);
    assertThat(begin(TICK.plusSeconds(1), 5, NEVER)).isEqualTo(Decision.STALE_TOKEN);
    assertThat(begin(TICK.plusSeconds(1), 4, NEVER)).isEqualTo(Decision.STALE_TOKEN);
    assertThat(begin(TICK, 4, Set.of(Outcome.RUNNING))).isEqualTo(Decision.STALE_TOKEN);
    assertThat(store.history("job", 10)).hasSize(1);
  }

  @Test
  void shouldKeepTheEndOfARunThatAnotherHasSupersededOutOfTheDecision() {
    begin(TICK, 1, NEVER);
    assertThat(begin(TICK, 2, Set.of(Outcome.RUNNING))).isEqualTo(Decision.BEGUN);
    assertThat(store.history("job", 10).get(1).outcome()).isEqualTo(Outcome.ABANDONED);
    assertThat(finish(TICK, 1, Outcome.FAILED)).as("superseded").isFalse();
    assertThat(store.history("job", 10).get(1).outcome()).isEqualTo(Outcome.FAILED);
    assertThat(begin(TICK, 3, Set.of(Outcome.FAILED)))
        .as("the last run still runs")
        .isEqualTo(Decision.HAD_ITS_RUN);
    assertThat(finish(TICK, 2, Outcome.SUCCEEDED)).isTrue();
    assertThat(finish(TICK, 9, Outcome.SUCCEEDED)).as("never begun").isFalse();
  }

  @Test
  void shouldGiveTheHistoryWithTheLastTickFirst() {
    Instant before = store.now().minusSeconds(1);
    begin(TICK, 1, NEVER);
    store.finish("job", TICK, 1, Outcome.FAILED, Optional.of("no paper"));
    begin(TICK, 2, Set.of(Outcome.FAILED));
    begin(TICK.plusSeconds(1), 3, NEVER);
    List<JobRun> history = store.history("job", 10);
    assertThat(history).extracting(JobRun::fencingToken).containsExactly(3L, 2L, 1L);
    assertThat(store.history("job", 2)).isEqualTo(history.subList(0, 2));
    assertThat(history.get(0).finishedAt()).isEmpty();
    JobRun failed = history.get(2);
    assertThat(failed.job()).isEqualTo("job");
    assertThat(failed.tick()).isEqualTo(TICK);
    assertThat(failed.runner()).isEqualTo("runner-1");
    assertThat(failed.error()).contains("no paper");
    assertThat(failed.startedAt()).isBetween(before, store.now());
    assertThat(failed.finishedAt().orElseThrow()).isBetween(failed.startedAt(), store.now());
  }

  @Test
  void shouldTakeWhateverIsInAnErrorText() {
    begin(TICK, 1, NEVER);
    String strange = "zero \0, half \ud83d, long " + "x".repeat(100_000) + "\ud83d\ude00";
    assertThat(store.finish("job", TICK, 1, Outcome.FAILED, Optional.of(strange))).isTrue();
    assertThat(store.history("job", 1).get(0).error().orElseThrow()).startsWith("zero ");
  }

  @Test
  void shouldShortenTheHistoryAndForgetNoDecision() {
    for (int i = 0; i < 5; i++) {
      begin(TICK.plusSeconds(i), i + 1, NEVER);
      finish(TICK.plusSeconds(i), i + 1, Outcome.SUCCEEDED);
    }
    store.prune("other", TICK.plus(Duration.ofDays(1)));
    store.prune("job", TICK.plusSeconds(3));
    assertThat(store.history("job", 10)).extracting(JobRun::fencingToken).containsExactly(5L, 4L);
    store.prune("job", TICK.plus(Duration.ofDays(1)));
    assertThat(store.history("job", 10)).extracting(JobRun::fencingToken).containsExactly(5L);
    assertThat(begin(TICK.plusSeconds(4), 9, NEVER)).isEqualTo(Decision.HAD_ITS_RUN);
  }

  @Test
  void shouldLetOneOfManyBeginThatComeAtOnce() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(RACERS);
    CyclicBarrier together = new CyclicBarrier(RACERS);
    try {
      for (int i = 0; i < 20; i++) {
        Instant tick = TICK.plusSeconds(i);
        List<Future<Decision>> decisions = new ArrayList<>();
        for (int racer = 0; racer < RACERS; racer++) {
          long token = 100L * i + racer + 1;
          Callable<Decision> call =
              () -> {
                together.await();
                return begin(tick, token, NEVER);
              };
          decisions.add(threads.submit(call));
        }
        int begun = 0;
        for (Future<Decision> decision : decisions) {
          begun += decision.get(60, TimeUnit.SECONDS) == Decision.BEGUN ? 1 : 0;
        }
        assertThat(begun).as("of tick %s", i).isEqualTo(1);
      }
    } finally {
      threads.shutdownNow();
    }
    assertThat(store.history("job", 100)).hasSize(20);
  }
}
