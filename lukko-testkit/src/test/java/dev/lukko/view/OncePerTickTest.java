package dev.lukko.view;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.lukko.ClientClosedException;
import dev.lukko.Lease;
import dev.lukko.LeaseLostException;
import dev.lukko.LockClient;
import dev.lukko.LockException;
import dev.lukko.LockInterruptedException;
import dev.lukko.QuorumUnavailableException;
import dev.lukko.fencing.StaleTokenException;
import dev.lukko.memory.InMemoryNode;
import dev.lukko.redlock.Redlock;
import dev.lukko.schedule.JobRun;
import dev.lukko.schedule.JobRun.Outcome;
import dev.lukko.schedule.LastRunStore;
import dev.lukko.schedule.OncePerTick;
import dev.lukko.schedule.OncePerTick.Result;
import dev.lukko.schedule.RunNotRecordedException;
import dev.lukko.testkit.FaultyNode;
import dev.lukko.testkit.LockInvariants;
import dev.lukko.testkit.ManualTime;
import dev.lukko.time.Ticker;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A job in several replicas, in manual time: here the store's clock is the one that moves. */
class OncePerTickTest {
  private static final Duration DAY = Duration.ofDays(1);
  private static final Duration TTL = Duration.ofSeconds(30);

  @RegisterExtension final LockInvariants invariants = new LockInvariants();
  private final ManualTime time = invariants.time(new ManualTime());
  private final InMemoryNode locks = new InMemoryNode("n1", time);
  private final FaultyNode node = invariants.node(locks);
  private final LockClient client = client(node);
  private final BrokenStore store = new BrokenStore(LastRunStore.inMemory(time));
  private final Instant tick = store.now();
  private final AtomicInteger runs = new AtomicInteger();

  private LockClient client(FaultyNode over) {
    return invariants.client(Redlock.builder().node(over).ticker(time).scheduler(time).build());
  }

  private OncePerTick.Builder replica() {
    return OncePerTick.builder(client, store).scheduler(time).maxWait(Duration.ZERO);
  }

  private Result run(OncePerTick once, Instant at) {
    return once.run("report", at, lease -> runs.incrementAndGet());
  }

  private List<JobRun> history() {
    return store.history("report", 100);
  }

  // Once

  @Test
  void jobOfNoDurationRunsOnceThoughItsLockIsFreeAgainForEveryReplica() {
    List<Result> results = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      results.add(run(replica().runner("replica-" + i).build(), tick));
    }
    assertThat(runs).hasValue(1);
    assertThat(results).startsWith(Result.RAN);
    assertThat(results.subList(1, 5)).containsOnly(Result.ALREADY_RAN);
    assertThat(history()).singleElement().extracting(JobRun::runner).isEqualTo("replica-0");
  }

  @Test
  void twoApplicationsHaveAJobOfTheSameNameEach() {
    OncePerTick billing = replica().application("billing").build();
    OncePerTick shop = replica().application("shop").build();
    assertThat(run(billing, tick)).isEqualTo(Result.RAN);
    assertThat(run(shop, tick)).isEqualTo(Result.RAN);
    assertThat(run(billing, tick)).isEqualTo(Result.ALREADY_RAN);
    assertThat(runs).hasValue(2);
    assertThat(billing.history("report", 1)).hasSize(1);
    assertThat(store.history("shop/report", 1)).hasSize(1);
  }

  @Test
  void twoCopiesThatFireInTheSameSecondSendTheInvoiceOnce() throws Exception {
    int nights = 50;
    Instant lastNight = Instant.parse("2026-01-31T00:00:00Z");
    InMemoryNode shared = new InMemoryNode("n1");
    LastRunStore runsOfBoth = LastRunStore.inMemory(Ticker.system());
    List<Instant> invoices = new CopyOnWriteArrayList<>();
    CyclicBarrier sameSecond = new CyclicBarrier(2);
    Threads.together(
        2,
        copy -> {
          try (LockClient own = Redlock.builder().node(shared).build();
              OncePerTick once = OncePerTick.over(own, runsOfBoth)) {
            for (int night = 0; night < nights; night++) {
              Instant midnight = lastNight.minus(DAY.multipliedBy(nights - night));
              sameSecond.await();
              once.run("invoices", midnight, lease -> invoices.add(midnight));
            }
          }
        });
    assertThat(invoices).hasSize(nights).doesNotHaveDuplicates();
  }

  @Test
  void replicaWhoseClockIsMinutesBehindFindsThatTheTickHadItsRun() {
    OncePerTick once = replica().build();
    for (int minute = 0; minute < 10; minute++) {
      assertThat(run(once, tick.plusSeconds(60L * minute))).isEqualTo(Result.RAN);
      if (minute >= 3) {
        assertThat(run(replica().build(), tick.plusSeconds(60L * (minute - 3))))
            .as("three minutes behind")
            .isEqualTo(Result.ALREADY_RAN);
      }
      time.advance(Duration.ofMinutes(1));
    }
    assertThat(runs).hasValue(10);
  }

  @Test
  void replicaWhoseClockIsMinutesAheadIsToldThatTheTickIsNotDue() {
    assertThat(run(replica().build(), tick.plusSeconds(180))).isEqualTo(Result.NOT_DUE);
    assertThat(runs).hasValue(0);
    assertThat(history()).isEmpty();
    time.advance(Duration.ofSeconds(180));
    assertThat(run(replica().build(), tick.plusSeconds(180))).isEqualTo(Result.RAN);
  }

  @Test
  void replicaWhoseClockIsALittleAheadWaitsUntilTheTickIsDue() throws Exception {
    AtomicReference<Instant> ranAt = new AtomicReference<>();
    Instant next = tick.plusMillis(500);
    CompletableFuture<Result> result =
        inThread(() -> replica().build().run("report", next, lease -> ranAt.set(store.now())));
    await().until(() -> time.pending() == 1);
    time.advance(Duration.ofMillis(499));
    assertThat(result).isNotDone();
    time.advance(Duration.ofMillis(1));
    assertThat(result.get()).isEqualTo(Result.RAN);
    assertThat(ranAt.get()).isEqualTo(next);
  }

  @Test
  void interruptEndsTheWaitForATickAndKeepsTheFlag() throws Exception {
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> run(replica().build(), tick.plusMillis(500)))
        .isInstanceOf(LockInterruptedException.class);
    assertThat(Thread.interrupted()).isTrue();
    assertThat(time.pending()).isZero();
  }

  @Test
  void closeEndsTheWaitForATick() throws Exception {
    OncePerTick once = replica().build();
    CompletableFuture<Result> result = inThread(() -> run(once, tick.plusMillis(500)));
    await().until(() -> time.pending() == 1);
    once.close();
    assertThatThrownBy(result::get).hasCauseInstanceOf(ClientClosedException.class);
    assertThat(runs).hasValue(0);
  }

  // Periods

  @Test
  void periodHasTheSameTicksInEveryReplicaHoweverTheyFire() {
    time.advance(Duration.ofSeconds(7));
    OncePerTick once = replica().maxEarly(Duration.ZERO).build();
    for (int i = 0; i < 100; i++) {
      once.run("report", Duration.ofSeconds(10), lease -> runs.incrementAndGet());
      time.advance(Duration.ofMillis(700));
    }
    assertThat(history()).extracting(JobRun::tick).doesNotHaveDuplicates().hasSize(runs.get());
    assertThat(history())
        .allSatisfy(run -> assertThat(run.tick().getEpochSecond() % 10).isZero())
        .hasSize(8);
  }

  @Test
  void replicaThatFiresJustBeforeATickOfThePeriodWaitsForItInsteadOfMissingItForAPeriod()
      throws Exception {
    OncePerTick once = replica().build();
    assertThat(once.run("report", DAY, lease -> runs.incrementAndGet())).isEqualTo(Result.RAN);
    time.advance(DAY.minusMillis(300));
    CompletableFuture<Result> result =
        inThread(() -> once.run("report", DAY, lease -> runs.incrementAndGet()));
    await().until(() -> time.pending() == 1);
    time.advance(Duration.ofMillis(300));
    assertThat(result.get()).isEqualTo(Result.RAN);
    assertThat(history().get(0).tick()).isEqualTo(tick.plus(DAY));
  }

  // Failures

  @Test
  void runThatFailsIsTheTicksRunAndTheCallerSeesWhy() {
    OncePerTick once = replica().build();
    assertThatThrownBy(
            () ->
                once.run(
                    "report",
                    tick,
                    lease -> {
                      throw new IOException("no paper");
                    }))
        .isInstanceOf(IOException.class)
        .hasMessage("no paper");
    assertThat(history().get(0).outcome()).isEqualTo(Outcome.FAILED);
    assertThat(history().get(0).error().orElseThrow()).contains("no paper");
    assertThat(run(once, tick)).isEqualTo(Result.ALREADY_RAN);
    assertThat(run(replica().rerunAfter(Outcome.FAILED).build(), tick)).isEqualTo(Result.RAN);
    assertThat(run(replica().rerunAfter(Outcome.FAILED).build(), tick))
        .isEqualTo(Result.ALREADY_RAN);
  }

  @Test
  void runWhoseReplicaDiedIsRunAgainOnlyIfAskedForAndUnderAHigherToken() {
    long dead;
    try (Lease lease = client.acquire("job:report", TTL)) {
      dead = lease.fencingToken();
      store.begin("report", tick, dead, "dead", Set.of());
    } // It never says how it ended.
    assertThat(run(replica().build(), tick)).isEqualTo(Result.ALREADY_RAN);
    AtomicReference<Long> token = new AtomicReference<>();
    assertThat(
            replica()
                .rerunAfter(Outcome.RUNNING)
                .build()
                .run("report", tick, lease -> token.set(lease.fencingToken())))
        .isEqualTo(Result.RAN);
    assertThat(token.get()).isGreaterThan(dead);
    assertThat(history())
        .extracting(JobRun::outcome)
        .containsExactly(Outcome.SUCCEEDED, Outcome.ABANDONED);
  }

  @Test
  void replicaThatDiesBetweenTheLockAndTheBeginningLeavesTheTickToOneThatWaits() throws Exception {
    FaultyNode itsNode = invariants.node(locks);
    Lease dead = client(itsNode).acquire("job:report", TTL);
    itsNode.fault(FaultyNode.Fault.LOSE_REQUESTS);
    CompletableFuture<Result> result =
        inThread(() -> run(replica().maxWait(TTL.multipliedBy(2)).build(), tick));
    await()
        .until(
            () -> {
              time.advance(Duration.ofSeconds(1));
              return result.isDone();
            });
    assertThat(result.get()).isEqualTo(Result.RAN);
    assertThat(dead.isValid()).isFalse();
    itsNode.heal();
  }

  @Test
  void runThatLosesItsLeaseSaysSoAndMayBeRunAgain() {
    assertThatThrownBy(() -> replica().build().run("report", tick, this::lose))
        .isInstanceOf(LeaseLostException.class);
    assertThat(history().get(0).outcome()).isEqualTo(Outcome.LOST);
    node.heal();
    assertThat(run(replica().build(), tick)).isEqualTo(Result.ALREADY_RAN);
    assertThat(run(replica().rerunAfter(Outcome.LOST).build(), tick)).isEqualTo(Result.RAN);
  }

  @Test
  void bodyThatThrowsBecauseItsLeaseIsLostIsALostRunAndItsErrorIsSeen() {
    assertThatThrownBy(
            () ->
                replica()
                    .build()
                    .run(
                        "report",
                        tick,
                        lease -> {
                          lose(lease);
                          throw new IllegalStateException("gave up");
                        }))
        .hasMessage("gave up");
    assertThat(history().get(0).outcome()).isEqualTo(Outcome.LOST);
    node.heal();
  }

  private void lose(Lease lease) {
    node.fault(FaultyNode.Fault.LOSE_REQUESTS);
    time.advance(TTL);
    assertThat(lease.isValid()).isFalse();
  }

  @Test
  void locksThatCannotBeReachedRunNothing() {
    node.fault(FaultyNode.Fault.DOWN);
    assertThatThrownBy(() -> run(replica().build(), tick))
        .isInstanceOf(QuorumUnavailableException.class);
    assertThat(runs).hasValue(0);
    node.heal();
    assertThat(run(replica().build(), tick)).isEqualTo(Result.RAN);
  }

  // The store

  @Test
  void storeThatCannotBeReachedBeforeTheRunRunsNothingAndLeavesTheLockFree() {
    store.refusedBegins = 2;
    assertThatThrownBy(() -> run(replica().build(), tick)).hasMessageContaining("reached");
    assertThat(runs).hasValue(0);
    assertThat(run(replica().build(), tick)).isEqualTo(Result.RAN);
  }

  @Test
  void answerOfTheStoreThatIsLostBeforeTheRunDoesNotLoseTheTick() {
    store.lostBegins = 1;
    assertThat(run(replica().build(), tick)).isEqualTo(Result.RAN);
    assertThat(runs).hasValue(1);
    assertThat(history()).hasSize(1);
  }

  @Test
  void storeThatCannotBeReachedAfterTheRunIsATypedErrorAndTheTickIsNotRunAgain() {
    store.refusedFinishes = 2;
    assertThatThrownBy(() -> run(replica().build(), tick))
        .isInstanceOfSatisfying(
            RunNotRecordedException.class,
            unwritten -> {
              assertThat(unwritten.job()).isEqualTo("report");
              assertThat(unwritten.tick()).isEqualTo(tick);
              assertThat(unwritten.outcome()).isEqualTo(Outcome.SUCCEEDED);
              assertThat(unwritten).hasCauseInstanceOf(LockException.class);
            });
    assertThat(runs).hasValue(1);
    assertThat(run(replica().build(), tick)).isEqualTo(Result.ALREADY_RAN);
    assertThat(history().get(0).outcome()).isEqualTo(Outcome.RUNNING);
  }

  @Test
  void storeThatFailsOnceAfterTheRunIsToldAgain() {
    store.lostFinishes = 1;
    assertThat(run(replica().build(), tick)).isEqualTo(Result.RAN);
    assertThat(history().get(0).outcome()).isEqualTo(Outcome.SUCCEEDED);
  }

  @Test
  void storeThatCannotBeReachedAfterAFailureDoesNotHideTheFailure() {
    store.refusedFinishes = 2;
    assertThatThrownBy(
            () ->
                replica()
                    .build()
                    .run(
                        "report",
                        tick,
                        lease -> {
                          throw new IllegalStateException("no paper");
                        }))
        .hasMessage("no paper")
        .satisfies(
            failure ->
                assertThat(failure.getSuppressed())
                    .singleElement()
                    .isInstanceOf(RunNotRecordedException.class));
  }

  @Test
  void staleHolderCannotBeginALaterTickThanOneThatRanUnderAHigherToken() {
    store.begin("report", tick.minusSeconds(60), Long.MAX_VALUE, "the next holder", Set.of());
    assertThatThrownBy(() -> run(replica().build(), tick))
        .isInstanceOfSatisfying(
            StaleTokenException.class,
            stale -> assertThat(stale.highest()).isEqualTo(Long.MAX_VALUE));
    assertThat(runs).hasValue(0);
  }

  @Test
  void runThatAnotherSupersededWhileItsLeaseSeemedValidIsAnError() {
    assertThatThrownBy(
            () ->
                replica()
                    .build()
                    .run(
                        "report",
                        tick,
                        lease ->
                            store.begin(
                                "report",
                                tick.plusSeconds(1),
                                lease.fencingToken() + 1,
                                "another",
                                Set.of())))
        .isInstanceOf(StaleTokenException.class);
  }

  // Missed ticks, long runs

  @Test
  void afterAnOutageTheLastMissedTickIsRunOnceAndTheOthersNever() {
    OncePerTick once = replica().build();
    Duration hour = Duration.ofHours(1);
    once.run("report", hour, lease -> runs.incrementAndGet());
    time.advance(hour.multipliedBy(5).plusMinutes(20));
    for (int replica = 0; replica < 3; replica++) {
      once.run("report", hour, lease -> runs.incrementAndGet());
    }
    assertThat(history())
        .extracting(JobRun::tick)
        .containsExactly(tick.plus(hour.multipliedBy(5)), tick);
    assertThat(runs).hasValue(2);
  }

  @Test
  void tickThatIsTooLateIsSkippedOnceForAllIfAskedFor() {
    OncePerTick once = replica().skipLaterThan(Duration.ofMinutes(5)).build();
    time.advance(Duration.ofMinutes(5).plusMillis(1));
    assertThat(run(once, tick)).isEqualTo(Result.SKIPPED);
    assertThat(run(once, tick)).isEqualTo(Result.ALREADY_RAN);
    assertThat(run(replica().build(), tick)).isEqualTo(Result.ALREADY_RAN);
    assertThat(runs).hasValue(0);
    assertThat(history()).singleElement().extracting(JobRun::outcome).isEqualTo(Outcome.SKIPPED);
    assertThat(run(once, tick.plusMillis(1))).as("just in time").isEqualTo(Result.RAN);
  }

  @Test
  void whileATickRunsTheOthersAreToldAndTheNextTickWaitsForItsEndIfItMay() throws Exception {
    LockClient other = client(invariants.node(locks));
    time.advance(Duration.ofSeconds(1));
    AtomicReference<CompletableFuture<Result>> waiting = new AtomicReference<>();
    replica()
        .build()
        .run(
            "report",
            tick,
            lease -> {
              OncePerTick impatient =
                  OncePerTick.builder(other, store).maxWait(Duration.ZERO).build();
              assertThat(run(impatient, tick)).isEqualTo(Result.RUNNING_ELSEWHERE);
              assertThat(run(impatient, tick.plusMillis(1))).isEqualTo(Result.RUNNING_ELSEWHERE);
              assertThat(run(impatient, tick.minusMillis(1))).isEqualTo(Result.ALREADY_RAN);
              OncePerTick patient =
                  OncePerTick.builder(other, store).maxWait(Duration.ofHours(1)).build();
              waiting.set(inThread(() -> run(patient, tick.plusSeconds(1))));
              await().until(() -> time.pending() > 1); // The watchdog's and the waiter's.
              assertThat(runs).hasValue(0);
            });
    await()
        .until(
            () -> {
              time.advance(Duration.ofMillis(100));
              return waiting.get().isDone();
            });
    assertThat(waiting.get().get()).isEqualTo(Result.RAN);
    assertThat(history()).extracting(JobRun::tick).containsExactly(tick.plusSeconds(1), tick);
  }

  @Test
  void longRunKeepsItsLeaseForAsLongAsItTakes() {
    Result result =
        replica()
            .build()
            .run(
                "report",
                tick,
                lease -> {
                  time.advance(TTL.multipliedBy(20));
                  lease.ensureValid();
                });
    assertThat(result).isEqualTo(Result.RAN);
  }

  // History, arguments

  @Test
  void historyIsShortenedByTheRunsAndAFailureToDoSoChangesNothing() {
    OncePerTick once = replica().keepHistory(Duration.ofMinutes(1)).build();
    for (int i = 0; i < 5; i++) {
      assertThat(run(once, store.now())).isEqualTo(Result.RAN);
      time.advance(Duration.ofSeconds(30));
    }
    assertThat(history()).hasSize(3);
    store.refusedPrunes = 1;
    assertThat(run(once, store.now())).isEqualTo(Result.RAN);
    assertThat(history()).hasSize(4);
    assertThat(run(replica().keepHistoryForever().build(), store.now().minusMillis(1)))
        .isEqualTo(Result.ALREADY_RAN);
  }

  @Test
  void badArgumentsAreRefusedByNameBeforeAnyRequest() {
    assertRefused("application", () -> replica().application("a/b"));
    int requests = node.requests();
    OncePerTick once = replica().build();
    assertRefused("job", () -> once.run("", tick, lease -> {}));
    assertRefused("job", () -> once.run("x".repeat(252), tick, lease -> {}));
    assertRefused("period", () -> once.run("report", Duration.ZERO, lease -> {}));
    assertRefused("period", () -> once.run("report", Duration.ofNanos(1_500_000), lease -> {}));
    assertRefused("period", () -> once.run("report", ChronoUnit.FOREVER.getDuration(), l -> {}));
    assertRefused("tick", () -> once.run("report", Instant.MIN, lease -> {}));
    assertRefused("tick", () -> once.run("report", Instant.MAX, lease -> {}));
    assertRefused("runner", () -> replica().runner("a\0b"));
    assertRefused("limit", () -> once.history("report", 0));
    assertRefused("ttl", () -> replica().ttl(Duration.ZERO));
    assertRefused("maxWait", () -> replica().maxWait(Duration.ofSeconds(-1)));
    assertRefused("maxEarly", () -> replica().maxEarly(Duration.ofHours(2)));
    assertRefused("skipLaterThan", () -> replica().skipLaterThan(Duration.ofSeconds(-1)));
    assertRefused("keepHistory", () -> replica().keepHistory(Duration.ofSeconds(-1)));
    assertRefused("rerunAfter", () -> replica().rerunAfter(Outcome.SUCCEEDED));
    assertThat(node.requests()).isEqualTo(requests);
  }

  private static void assertRefused(String field, Runnable call) {
    assertThatThrownBy(call::run)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(field + " is ");
  }

  private interface Call {
    Result run() throws Exception;
  }

  private static CompletableFuture<Result> inThread(Call call) {
    CompletableFuture<Result> result = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                result.complete(call.run());
              } catch (Throwable failure) {
                result.completeExceptionally(failure);
              }
            },
            "lukko-test-replica");
    thread.setDaemon(true);
    thread.start();
    return result;
  }
}
