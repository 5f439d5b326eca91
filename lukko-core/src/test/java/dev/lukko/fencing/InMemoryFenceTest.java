package dev.lukko.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.lukko.LockException;
import dev.lukko.time.Ticker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class InMemoryFenceTest {
  private final InMemoryFence fence = new InMemoryFence();
  private final InMemoryFence strict = InMemoryFence.builder().strict().build();

  @Test
  void lowerTokenAfterHigherIsRefusedWithBothNumbers() {
    fence.check("account", 34);

    StaleTokenException refused =
        catchThrowableOfType(StaleTokenException.class, () -> fence.check("account", 33));

    assertThat(refused.resource()).isEqualTo("account");
    assertThat(refused.token()).isEqualTo(33);
    assertThat(refused.highest()).isEqualTo(34);
    assertThat(refused).isInstanceOf(LockException.class).hasMessageContainingAll("account", "33");
    assertThat(refused).hasMessageContaining("34");
  }

  @Test
  void holderWritesTwiceWithOneTokenIsAcceptedByDefault() {
    fence.check("account", 34);
    assertThatCode(() -> fence.check("account", 34)).doesNotThrowAnyException();
  }

  @Test
  void holderWritesTwiceWithOneTokenIsRefusedWhenStrict() {
    strict.check("account", 34);
    assertThatThrownBy(() -> strict.check("account", 34))
        .isInstanceOf(StaleTokenException.class)
        .hasMessageContainingAll("34", "used already");
    assertThatCode(() -> strict.check("account", 35)).doesNotThrowAnyException();
  }

  @Test
  void readByTheNewHolderRaisesTheFence() {
    fence.touch("account", 34);
    assertThatThrownBy(() -> fence.check("account", 33)).isInstanceOf(StaleTokenException.class);
    assertThatThrownBy(() -> fence.touch("account", 33)).isInstanceOf(StaleTokenException.class);
  }

  @Test
  void readDoesNotUseUpTheTokenOfAStrictFence() {
    strict.touch("account", 34);
    strict.touch("account", 34);
    strict.check("account", 34);
    strict.touch("account", 34);
    assertThatThrownBy(() -> strict.check("account", 34)).isInstanceOf(StaleTokenException.class);
  }

  @Test
  void resourcesHaveSeparateTokens() {
    fence.check("a", 34);
    assertThatCode(() -> fence.check("b", 1)).doesNotThrowAnyException();
    assertThat(fence.size()).isEqualTo(2);
  }

  @Test
  void leaseOverSeveralResourcesChecksEachWithItsOneToken() {
    fence.check(FixedLease.of(33, "a", "b"));
    fence.touch(FixedLease.of(34, "b"));

    assertThatThrownBy(() -> fence.check(FixedLease.of(33, "a", "b")))
        .isInstanceOfSatisfying(
            StaleTokenException.class, stale -> assertThat(stale.resource()).isEqualTo("b"));
  }

  @Test
  void refusedWriteDoesNotRunAndDoesNotKeepTheResource() throws Exception {
    fence.run("account", 34, () -> "first");
    assertThatThrownBy(
            () ->
                fence.run(
                    "account",
                    33,
                    () -> {
                      throw new AssertionError("must not run");
                    }))
        .isInstanceOf(StaleTokenException.class);
    // From another thread: a lock left behind would keep it out.
    CompletableFuture<Void> other = CompletableFuture.runAsync(() -> fence.check("account", 35));
    assertThat(other).succeedsWithin(Duration.ofSeconds(30));
  }

  @Test
  void bodyThatThrowsLeavesTheTokenRememberedAndTheResourceFree() {
    assertThatThrownBy(
            () ->
                fence.run(
                    "account",
                    34,
                    () -> {
                      throw new java.io.IOException("disk full");
                    }))
        .isInstanceOf(java.io.IOException.class);
    CompletableFuture<Void> stale = CompletableFuture.runAsync(() -> fence.check("account", 33));
    assertThat(stale)
        .failsWithin(Duration.ofSeconds(30))
        .withThrowableOfType(java.util.concurrent.ExecutionException.class)
        .withCauseInstanceOf(StaleTokenException.class);
  }

  @Test
  void higherTokenWaitsUntilTheRunningWriteHasEnded() throws Exception {
    CountDownLatch inside = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    List<String> writes = new ArrayList<>();
    CompletableFuture<Void> slow =
        CompletableFuture.runAsync(
            () ->
                call(
                    "account",
                    33,
                    () -> {
                      inside.countDown();
                      await(goOn);
                      writes.add("33");
                    }));
    await(inside);
    CompletableFuture<Void> next =
        CompletableFuture.runAsync(() -> call("account", 34, () -> writes.add("34")));
    assertThatCode(() -> fence.check("another", 1)).doesNotThrowAnyException();
    assertThat(next).isNotDone();
    goOn.countDown();
    CompletableFuture.allOf(slow, next).get(30, TimeUnit.SECONDS);

    assertThat(writes).containsExactly("33", "34");
  }

  @Test
  void bodyThatHangsMakesOthersGiveUpAfterTheLongestWait() throws Exception {
    InMemoryFence impatient = InMemoryFence.builder().maxWait(Duration.ofMillis(1)).build();
    CountDownLatch goOn = new CountDownLatch(1);
    CountDownLatch inside = new CountDownLatch(1);
    CompletableFuture<Void> hung =
        CompletableFuture.runAsync(
            () -> {
              try {
                impatient.run(
                    "account",
                    33,
                    () -> {
                      inside.countDown();
                      await(goOn);
                      return null;
                    });
              } catch (Exception e) {
                throw new AssertionError(e);
              }
            });
    await(inside);
    assertThatThrownBy(() -> impatient.check("account", 34))
        .isExactlyInstanceOf(LockException.class)
        .hasMessageContaining("account");
    goOn.countDown();
    hung.get(30, TimeUnit.SECONDS);
    // Refused for the wait, not for the token: it is not remembered, and works now.
    assertThatCode(() -> impatient.check("account", 33)).doesNotThrowAnyException();
  }

  @Test
  void interruptedWaitThrowsAndKeepsTheFlag() throws Exception {
    CountDownLatch goOn = new CountDownLatch(1);
    CountDownLatch inside = new CountDownLatch(1);
    CompletableFuture<Void> hung =
        CompletableFuture.runAsync(
            () ->
                call(
                    "account",
                    33,
                    () -> {
                      inside.countDown();
                      await(goOn);
                    }));
    await(inside);
    Thread.currentThread().interrupt();
    try {
      assertThatThrownBy(() -> fence.check("account", 34)).isInstanceOf(LockException.class);
    } finally {
      assertThat(Thread.interrupted()).isTrue();
      goOn.countDown();
    }
    hung.get(30, TimeUnit.SECONDS);
  }

  @Test
  void manyThreadsWithRandomTokensLeaveTheValueOfTheHighest() throws Exception {
    int threads = 8;
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    AtomicLong value = new AtomicLong();
    CyclicBarrier start = new CyclicBarrier(threads);
    List<Future<Long>> all = new ArrayList<>();
    try {
      for (int i = 0; i < threads; i++) {
        all.add(
            pool.submit(
                () -> {
                  start.await(30, TimeUnit.SECONDS);
                  long highest = 0;
                  for (int n = 0; n < 5_000; n++) {
                    long token = ThreadLocalRandom.current().nextLong(1, 1_000_000);
                    highest = Math.max(highest, token);
                    try {
                      fence.run(
                          "account",
                          token,
                          () -> {
                            assertThat(value.get()).isLessThanOrEqualTo(token);
                            value.set(token);
                            return null;
                          });
                    } catch (StaleTokenException stale) {
                      assertThat(stale.highest()).isGreaterThan(token);
                    }
                  }
                  return highest;
                }));
      }
      long highest = 0;
      for (Future<Long> one : all) {
        highest = Math.max(highest, one.get(60, TimeUnit.SECONDS));
      }
      assertThat(value).hasValue(highest);
    } finally {
      pool.shutdownNow();
    }
  }

  @Test
  void entriesLeaveAfterTheirRetentionAndNotBefore() {
    ManualClock clock = new ManualClock();
    InMemoryFence forgetful =
        InMemoryFence.builder()
            .retention(Duration.ofHours(1))
            .maxResources(10)
            .ticker(clock)
            .build();
    forgetful.check("kept", 34);
    for (int i = 0; i < 9; i++) {
      forgetful.check("once-" + i, 1);
    }
    assertThatThrownBy(() -> forgetful.check("one too many", 1))
        .isExactlyInstanceOf(LockException.class)
        .hasMessageContainingAll("10", "one too many");

    clock.advance(Duration.ofHours(1));
    forgetful.touch("kept", 34);
    clock.advance(Duration.ofNanos(1));
    forgetful.check("one too many", 1);

    assertThat(forgetful.size()).isEqualTo(2);
    assertThatThrownBy(() -> forgetful.check("kept", 33)).isInstanceOf(StaleTokenException.class);
  }

  @Test
  void millionNamesOnceEachDoNotStay() {
    ManualClock clock = new ManualClock();
    InMemoryFence forgetful =
        InMemoryFence.builder().retention(Duration.ofSeconds(1)).ticker(clock).build();
    for (int i = 0; i < 1_000_000; i++) {
      forgetful.check("name-" + i, 1);
      clock.advance(Duration.ofMillis(1));
    }
    // 1,000 names fall into one retention; the sweep comes at twice what the last one left.
    assertThat(forgetful.size()).isLessThan(5_000);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, -1, Long.MIN_VALUE})
  void tokenThatIsNotPositiveIsRefusedByName(long token) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> fence.check("account", token))
        .withMessageContainingAll("token", Long.toString(token), "positive");
    assertThat(fence.size()).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a\nb", "a\u0000", "half \uD83D"})
  void nameThatNamesNothingIsRefused(String name) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> fence.check(name, 1))
        .withMessageContaining("resource");
  }

  @Test
  void nameOfTheLongestLengthIsAcceptedAndOneMoreIsRefused() {
    fence.check("x".repeat(255), 1);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> fence.check("x".repeat(256), 1))
        .withMessageContainingAll("256", "1 to 255");
    assertThatIllegalArgumentException().isThrownBy(() -> fence.check(null, 1));
  }

  @Test
  void settingsOutOfRangeAreRefusedByName() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> InMemoryFence.builder().retention(Duration.ZERO))
        .withMessageContaining("retention");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> InMemoryFence.builder().maxWait(Duration.ofNanos(-1)))
        .withMessageContaining("maxWait");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> InMemoryFence.builder().maxResources(0))
        .withMessageContaining("maxResources");
  }

  private void call(String resource, long token, Runnable body) {
    try {
      fence.run(
          resource,
          token,
          () -> {
            body.run();
            return null;
          });
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static final class ManualClock implements Ticker {
    private long nanos;

    void advance(Duration by) {
      nanos += by.toNanos();
    }

    @Override
    public long nanoTime() {
      return nanos;
    }

    @Override
    public long wallMicros() {
      return nanos / 1_000;
    }
  }
}
