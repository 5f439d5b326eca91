package dev.lukko.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import dev.lukko.ClientClosedException;
import dev.lukko.Lease;
import dev.lukko.LeaseLostException;
import dev.lukko.LockBusyException;
import dev.lukko.LockEvent;
import dev.lukko.LockInterruptedException;
import dev.lukko.LockReport;
import dev.lukko.LockRequest;
import dev.lukko.LossReason;
import dev.lukko.QuorumUnavailableException;
import dev.lukko.ReleaseOutcome;
import dev.lukko.postgres.PostgresServer.Database;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(PostgresServer.Shared.class)
class AdvisoryLocksTest {
  private static final Duration TTL = Duration.ofSeconds(30);

  private Database database;
  private PostgresAdvisoryLocks mine;
  private PostgresAdvisoryLocks other;
  private final List<LockEvent> events = new CopyOnWriteArrayList<>();

  @BeforeEach
  void open(Database database) {
    this.database = database;
    mine = database.locks().description("mine").listener(events::add).build();
    other = database.locks().description("other").build();
  }

  @AfterEach
  void closeAndLeaveNothingBehind() throws Exception {
    mine.close();
    other.close();
    await().untilAsserted(() -> assertThat(database.advisoryLocks()).isZero());
  }

  @Test
  void aFreeLockIsGrantedAndARefusedOneSaysWhoHoldsIt() {
    try (Lease lease =
        mine.acquire(LockRequest.builder("a").ttl(TTL).metadata("nightly billing").build())) {
      assertThat(lease.isValid()).isTrue();
      assertThat(lease.resources()).containsExactly("a");
      assertThat(lease.remaining()).isPositive().isLessThanOrEqualTo(TTL);
      assertThat(lease.owner()).contains("mine/").contains("nightly billing");

      assertThat(other.tryAcquire("a", TTL)).isEmpty();
      LockBusyException busy =
          catchThrowableOfType(
              LockBusyException.class,
              () ->
                  other.acquire(LockRequest.builder("a").ttl(TTL).maxWait(Duration.ZERO).build()));
      assertThat(busy.holder().orElseThrow().description()).contains("lukko mine");
      assertThat(busy.waitExhausted()).isFalse();
    }
    assertThat(other.tryAcquire("a", TTL)).hasValueSatisfying(Lease::release);
  }

  @Test
  void aHeldLockIsReportedToAnyClientAndAFreeOneAsFree() {
    try (Lease lease = mine.acquire("a", TTL)) {
      LockReport elsewhere = other.inspect("a");
      assertThat(elsewhere.state()).isEqualTo(LockReport.State.HELD);
      assertThat(elsewhere.holders().get(0).holder().description()).contains("lukko mine");
      assertThat(mine.inspect("a").holders()).hasSize(1);
      assertThat(elsewhere.toString()).doesNotContain(lease.owner());
    }
    assertThat(other.inspect("a").state()).isEqualTo(LockReport.State.FREE);
    assertThat(other.health().margin()).isZero();
    other.close();
    assertThatThrownBy(() -> other.inspect("a")).isInstanceOf(ClientClosedException.class);
    assertThatThrownBy(() -> other.health()).isInstanceOf(ClientClosedException.class);
  }

  @Test
  void sharedHoldersAreReportedSideBySide() {
    LockRequest shared = LockRequest.builder("a").ttl(TTL).shared(true).build();
    try (Lease one = mine.acquire(shared);
        Lease two = other.acquire(shared)) {
      assertThat(one.isValid() && two.isValid()).isTrue();
      assertThat(mine.inspect("a").holders()).hasSize(2);
    }
  }

  @Test
  void aHoldThatLastsIsPublishedWithItsMetadata() {
    try (Lease lease =
        mine.acquire(
            LockRequest.builder("a").ttl(Duration.ofSeconds(1)).metadata("nightly").build())) {
      await()
          .untilAsserted(
              () -> {
                LockBusyException busy =
                    catchThrowableOfType(
                        LockBusyException.class,
                        () ->
                            other.acquire(
                                LockRequest.builder("a").ttl(TTL).maxWait(Duration.ZERO).build()));
                assertThat(busy.holder().orElseThrow().description()).contains("nightly");
                assertThat(busy.holder().orElseThrow().since()).isPresent();
              });
      assertThat(lease.isValid()).isTrue();
    }
    assertThat(holderRows()).isZero();
  }

  private long holderRows() {
    try {
      return database.number("SELECT count(*) FROM lukko.lock_holder");
    } catch (java.sql.SQLException failure) {
      throw new AssertionError(failure);
    }
  }

  @Test
  void tokensRiseWithEveryGrantWhoeverGetsIt() {
    List<Long> tokens = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      try (Lease lease = (i % 3 == 0 ? other : mine).acquire("a", TTL)) {
        tokens.add(lease.fencingToken());
      }
    }
    assertThat(tokens).isSorted().doesNotHaveDuplicates();
    assertThat(tokens.get(0)).isGreaterThan(1_700_000_000_000_000L);
  }

  @Test
  void threadsOfOneProcessExcludeEachOtherThoughTheyShareTheSession() throws Exception {
    int[] counter = {0};
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    List<Thread> threads = new ArrayList<>();
    List<Throwable> failures = new CopyOnWriteArrayList<>();
    for (int t = 0; t < 10; t++) {
      PostgresAdvisoryLocks client = t % 2 == 0 ? mine : other;
      Thread thread =
          new Thread(
              () -> {
                for (int i = 0; i < 100; i++) {
                  try (Lease lease =
                      client.acquire(
                          LockRequest.builder("counter")
                              .ttl(TTL)
                              .maxWait(Duration.ofMinutes(1))
                              .build())) {
                    most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                    int read = counter[0];
                    Thread.yield(); // The others get their chance to come in between.
                    counter[0] = read + 1;
                    inside.decrementAndGet();
                  } catch (RuntimeException failure) {
                    failures.add(failure);
                    return;
                  }
                }
              });
      threads.add(thread);
      thread.start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(failures).isEmpty();
    assertThat(most).as("threads inside at the same time").hasValue(1);
    assertThat(counter[0]).isEqualTo(1_000);
  }

  @Test
  void sharedHoldsStandTogetherAndExcludeAnExclusiveOne() {
    LockRequest reading =
        LockRequest.builder("a").ttl(TTL).shared(true).maxWait(Duration.ZERO).build();
    Lease first = mine.acquire(reading);
    Lease second = mine.acquire(reading);
    Lease third = other.acquire(reading);
    assertThat(other.tryAcquire("a", TTL)).isEmpty();
    assertThat(mine.tryAcquire("a", TTL)).isEmpty();
    third.close();
    first.close();
    assertThat(other.tryAcquire("a", TTL)).as("one reader is left").isEmpty();
    second.close();
    try (Lease exclusive = other.acquire("a", TTL)) {
      assertThat(mine.tryAcquire(reading)).isEmpty();
      assertThat(other.tryAcquire(reading)).as("by the same session").isEmpty();
      assertThat(exclusive.fencingToken()).isGreaterThan(third.fencingToken());
    }
  }

  @Test
  void severalNamesAreLockedTogetherOrNotAtAll() throws Exception {
    Lease middle = other.acquire("b", TTL);
    LockRequest all =
        LockRequest.builder("c", "a", "b", "d").ttl(TTL).maxWait(Duration.ZERO).build();
    assertThat(mine.tryAcquire(all)).isEmpty();
    assertThat(database.advisoryLocks()).as("only b").isEqualTo(1);
    middle.close();
    try (Lease lease = mine.acquire(all)) {
      assertThat(lease.resources()).containsExactly("a", "b", "c", "d");
      assertThat(lease.fencingToken()).isGreaterThan(middle.fencingToken());
      assertThat(database.advisoryLocks()).isEqualTo(4);
      assertThat(other.tryAcquire("d", TTL)).isEmpty();
    }
    assertThat(database.advisoryLocks()).isZero();
  }

  @Test
  void aWaiterOfAnotherProcessIsWokenByTheReleaseAndNotByItsPoll() throws Exception {
    // No poll can help within the time of this test.
    try (PostgresAdvisoryLocks patient =
        database.locks().retryDelay(Duration.ofMinutes(1)).retryJitter(Duration.ZERO).build()) {
      Lease lease = mine.acquire("a", TTL);
      CompletableFuture<Lease> waiting =
          patient.acquireAsync(
              LockRequest.builder("a").ttl(TTL).maxWait(LockRequest.FOREVER).build());
      await().until(() -> listens(database) && database.advisoryLocks() == 2);
      lease.close();
      await().untilAsserted(() -> assertThat(waiting).isCompleted());
      waiting.get().close();
    }
  }

  private static boolean listens(Database database) throws Exception {
    return database.number(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                + " AND query LIKE 'LISTEN%' AND state = 'idle'")
        == 1;
  }

  @Test
  void aWaiterOfTheSameProcessIsWokenByTheRelease() throws Exception {
    try (PostgresAdvisoryLocks patient =
        database.locks().retryDelay(Duration.ofMinutes(1)).retryJitter(Duration.ZERO).build()) {
      Lease lease = patient.acquire("a", TTL);
      CompletableFuture<Lease> first =
          patient.acquireAsync(
              LockRequest.builder("a").ttl(TTL).maxWait(LockRequest.FOREVER).build());
      CompletableFuture<Lease> second =
          patient.acquireAsync(
              LockRequest.builder("a").ttl(TTL).maxWait(LockRequest.FOREVER).build());
      lease.close();
      Lease winner = (Lease) CompletableFuture.anyOf(first, second).get();
      winner.close();
      first.get().release();
      second.get().release();
    }
  }

  @Test
  void aWaitEndsWithItsBudgetAndSaysSo() {
    try (Lease lease = mine.acquire("a", TTL)) {
      assertThatThrownBy(
              () ->
                  other.acquire(
                      LockRequest.builder("a").ttl(TTL).maxWait(Duration.ofMillis(120)).build()))
          .isInstanceOfSatisfying(
              LockBusyException.class,
              busy -> {
                assertThat(busy.waitExhausted()).isTrue();
                assertThat(busy.rounds()).isGreaterThan(1);
              });
      assertThat(lease.isValid()).isTrue();
    }
  }

  @Test
  void anInterruptedWaitKeepsTheFlagAndLeavesNothingBehind() throws Exception {
    Lease lease = mine.acquire("a", TTL);
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    AtomicReference<Boolean> flag = new AtomicReference<>();
    Thread waiter =
        new Thread(
            () -> {
              try {
                other.acquire(
                    LockRequest.builder("a").ttl(TTL).maxWait(LockRequest.FOREVER).build());
              } catch (RuntimeException failure) {
                thrown.set(failure);
                flag.set(Thread.currentThread().isInterrupted());
              }
            });
    waiter.start();
    await().until(() -> waiter.getState() == Thread.State.WAITING);
    waiter.interrupt();
    waiter.join();
    assertThat(thrown.get()).isInstanceOf(LockInterruptedException.class);
    assertThat(flag.get()).isTrue();
    lease.close();
    await().untilAsserted(() -> assertThat(database.advisoryLocks()).isZero());
  }

  @Test
  void aCancelledWaitNeverHoldsTheLock() {
    Lease lease = mine.acquire("a", TTL);
    CompletableFuture<Lease> waiting =
        other.acquireAsync(LockRequest.builder("a").ttl(TTL).maxWait(LockRequest.FOREVER).build());
    waiting.cancel(true);
    lease.close();
    await().untilAsserted(() -> assertThat(database.advisoryLocks()).isZero());
    assertThat(mine.tryAcquire("a", TTL)).hasValueSatisfying(Lease::close);
  }

  @Test
  void releaseIsIdempotentAndEndsTheLease() {
    Lease lease = mine.acquire("a", TTL);
    assertThat(lease.release().status()).isEqualTo(ReleaseOutcome.Status.RELEASED);
    assertThat(lease.release().status()).isEqualTo(ReleaseOutcome.Status.RELEASED);
    assertThat(lease.releaseAsync().join().status()).isEqualTo(ReleaseOutcome.Status.RELEASED);
    assertThat(lease.isValid()).isFalse();
    assertThat(lease.remaining()).isZero();
    assertThatThrownBy(() -> lease.extend(TTL))
        .isInstanceOfSatisfying(
            LeaseLostException.class,
            lost -> assertThat(lost.reason()).isEqualTo(LossReason.RELEASED));
    lease.close();
    assertThat(lease.lost().toCompletableFuture()).isNotCompleted();
  }

  @Test
  void extendAsksForASignOfLifeAndSetsTheTtl() {
    try (Lease lease = mine.acquire("a", Duration.ofSeconds(30))) {
      assertThat(lease.extend(Duration.ofMinutes(10))).isTrue();
      assertThat(lease.remaining()).isGreaterThan(Duration.ofMinutes(9));
      assertThat(lease.extendAsync(Duration.ofMinutes(20)).join()).isTrue();
      assertThat(lease.remaining()).isGreaterThan(Duration.ofMinutes(19));
      assertThatThrownBy(() -> lease.extend(Duration.ZERO))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("ttl");
    }
  }

  @Test
  void aLeaseOutlivesItsTtlAsLongAsTheSessionAnswers() {
    try (Lease lease = mine.acquire("a", Duration.ofMillis(150))) {
      long start = System.nanoTime();
      await()
          .until(
              () -> {
                assertThat(lease.isValid()).isTrue();
                return System.nanoTime() - start > Duration.ofMillis(600).toNanos();
              });
    }
  }

  @Test
  void theMaximumHoldEndsTheLeaseAndFreesTheLock() {
    Lease lease =
        mine.acquire(LockRequest.builder("a").ttl(TTL).maxHold(Duration.ofMillis(200)).build());
    assertThat(lease.lost().toCompletableFuture().join()).isEqualTo(LossReason.MAX_HOLD_REACHED);
    assertThat(lease.isValid()).isFalse();
    assertThat(lease.release().status()).isEqualTo(ReleaseOutcome.Status.NOT_HELD);
    assertThat(other.tryAcquire("a", TTL, Duration.ofSeconds(10)))
        .hasValueSatisfying(Lease::release);
  }

  @Test
  void aForgottenLeaseIsReportedAndEndsByItsTtlUnlessItsLossIsAwaited() {
    List<LossReason> losses = new CopyOnWriteArrayList<>();
    List<LockEvent> seen = new CopyOnWriteArrayList<>();
    try (PostgresAdvisoryLocks careless =
        database.locks().probeInterval(Duration.ofMillis(20)).listener(seen::add).build()) {
      acquireFor(careless, "callback", Duration.ofSeconds(5)).onLost(losses::add);
      acquireFor(careless, "stage", Duration.ofSeconds(5)).lost().thenAccept(losses::add);
      forget(careless);
      await()
          .until(
              () -> {
                System.gc();
                return seen.stream().anyMatch(LockEvent.Leaked.class::isInstance);
              });
      await()
          .untilAsserted(
              () -> assertThat(other.tryAcquire("a", TTL)).hasValueSatisfying(Lease::release));
      System.gc();
      assertThat(seen.stream().filter(LockEvent.Leaked.class::isInstance)).hasSize(1);
      assertThat(seen)
          .filteredOn(LockEvent.Lost.class::isInstance)
          .singleElement()
          .isInstanceOfSatisfying(
              LockEvent.Lost.class,
              lost -> assertThat(lost.resources()).as("the others are kept").containsExactly("a"));
      assertThat(losses).isEmpty();
    }
    await().until(() -> losses.size() == 2);
  }

  private static Lease acquireFor(PostgresAdvisoryLocks locks, String name, Duration ttl) {
    return locks.acquire(name, ttl);
  }

  private static void forget(PostgresAdvisoryLocks careless) {
    assertThat(careless.acquire("a", Duration.ofSeconds(5)).isValid()).isTrue();
  }

  @Test
  void closingTheClientFreesALockOnlyWhenItsHolderHasStopped() throws Exception {
    CountDownLatch called = new CountDownLatch(1);
    CountDownLatch gate = new CountDownLatch(1);
    Lease lease = mine.acquire("told", TTL);
    mine.acquire("untold", TTL);
    lease.onLost(
        reason -> {
          called.countDown();
          try {
            gate.await();
          } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
          }
        });
    Thread closing = new Thread(mine::close, "closing");
    closing.start();
    called.await();
    await()
        .untilAsserted(
            () -> assertThat(other.tryAcquire("untold", TTL)).hasValueSatisfying(Lease::release));
    assertThat(other.tryAcquire("told", TTL)).as("while its holder stops").isEmpty();
    gate.countDown();
    closing.join();
    assertThat(other.tryAcquire("told", TTL)).hasValueSatisfying(Lease::release);
    CountDownLatch after = new CountDownLatch(1);
    lease.onLost(reason -> after.countDown());
    after.await();
  }

  @Test
  void closingTheClientEndsWaitsAndLeasesAndFreesTheLocks() {
    Lease held = mine.acquire("a", TTL);
    Lease blocking = other.acquire("b", TTL);
    CompletableFuture<Lease> waiting =
        mine.acquireAsync(LockRequest.builder("b").ttl(TTL).maxWait(LockRequest.FOREVER).build());
    mine.close();
    assertThatThrownBy(waiting::get)
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(ClientClosedException.class);
    assertThat(held.isValid()).isFalse();
    assertThatThrownBy(held::ensureValid)
        .isInstanceOfSatisfying(
            LeaseLostException.class,
            lost -> assertThat(lost.reason()).isEqualTo(LossReason.CLIENT_CLOSED));
    assertThat(other.tryAcquire("a", TTL)).hasValueSatisfying(Lease::release);
    assertThatThrownBy(() -> mine.acquire("c", TTL)).isInstanceOf(ClientClosedException.class);
    mine.close();
    blocking.close();
  }

  @Test
  void closedClientsLeaveNoThreadAndNoConnection() {
    for (int i = 0; i < 50; i++) {
      try (PostgresAdvisoryLocks client = database.locks().build()) {
        client.acquire("cycle", TTL).close();
      }
    }
    await()
        .untilAsserted(
            () ->
                assertThat(
                        database.number(
                            "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE"
                                + " 'lukko %' AND datname = current_database()"))
                    .as("those of the two clients of this test")
                    .isLessThanOrEqualTo(2));
    await()
        .untilAsserted(
            () ->
                assertThat(
                        Thread.getAllStackTraces().keySet().stream()
                            .filter(thread -> thread.getName().startsWith("lukko-postgres-timer"))
                            .count())
                    .isLessThanOrEqualTo(2));
  }

  @Test
  void usingRunsTheBodyUnderTheLockAndGivesItsResult() {
    String result =
        mine.using(
            "a",
            TTL,
            lease -> {
              assertThat(other.tryAcquire("a", TTL)).isEmpty();
              return "done";
            });
    assertThat(result).isEqualTo("done");
    assertThat(other.tryAcquire("a", TTL)).hasValueSatisfying(Lease::close);
  }

  @Test
  void listenersHearOfGrantsAndReleases() {
    mine.acquire("a", TTL).close();
    await()
        .untilAsserted(
            () ->
                assertThat(events)
                    .hasAtLeastOneElementOfType(LockEvent.NodeStateChanged.class)
                    .hasAtLeastOneElementOfType(LockEvent.Acquired.class)
                    .hasAtLeastOneElementOfType(LockEvent.Released.class));
  }

  @Test
  void whatThisStoreCannotDoIsRefusedBeforeAnyInput() {
    assertThatThrownBy(() -> mine.acquire(LockRequest.builder("a").ttl(TTL).fair(true).build()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("fair");
    assertThatThrownBy(() -> PostgresAdvisoryLocks.builder().namespace(""))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("namespace");
    assertThatThrownBy(() -> PostgresAdvisoryLocks.builder().nodeTimeout(Duration.ZERO))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("nodeTimeout");
    assertThatThrownBy(() -> PostgresAdvisoryLocks.builder().build())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("url");
  }

  @Test
  void namespacesAreApart() {
    try (PostgresAdvisoryLocks elsewhere = database.locks().namespace("elsewhere").build();
        Lease here = mine.acquire("a", TTL)) {
      Optional<Lease> there = elsewhere.tryAcquire("a", TTL);
      assertThat(there).hasValueSatisfying(Lease::close);
      assertThat(here.isValid()).isTrue();
    }
  }

  @Test
  void aServerThatIsNotThereIsUnavailableAndNotBusy() throws Exception {
    try (java.net.ServerSocket unused = new java.net.ServerSocket(0)) {
      int port = unused.getLocalPort();
      unused.close();
      try (PostgresAdvisoryLocks lonely =
          database.through(port).locks().nodeTimeout(Duration.ofMillis(500)).build()) {
        assertThatThrownBy(() -> lonely.tryAcquire("a", TTL))
            .isInstanceOf(QuorumUnavailableException.class)
            .hasMessageContaining("refused");
      }
    }
  }

  @Test
  void asyncCallersGetTheirLeaseInAThreadOfTheClient() throws Exception {
    CountDownLatch seen = new CountDownLatch(1);
    mine.acquireAsync("a", TTL)
        .thenAccept(
            lease -> {
              lease.releaseAsync();
              seen.countDown();
            });
    seen.await();
    await().until(() -> database.advisoryLocks() == 0);
  }
}
