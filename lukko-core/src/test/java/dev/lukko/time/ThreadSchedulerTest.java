package dev.lukko.time;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ThreadSchedulerTest {
  private static final AtomicInteger NUMBER = new AtomicInteger();

  private final String name = "lukko-scheduler-test-" + NUMBER.incrementAndGet();

  private long threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith(name))
        .count();
  }

  @Test
  void threadsAreDaemonsBeginOnFirstUseAndEndWithClose() throws InterruptedException {
    Scheduler scheduler = Scheduler.create(name);
    assertThat(threads()).isZero();
    CountDownLatch ran = new CountDownLatch(2);
    Runnable task =
        () -> {
          assertThat(Thread.currentThread().isDaemon()).isTrue();
          ran.countDown();
        };
    scheduler.schedule(task, 0);
    scheduler.execute(task);
    assertThat(ran.await(20, TimeUnit.SECONDS)).isTrue();
    scheduler.close();
    scheduler.close();
    await().until(() -> threads() == 0);
  }

  @Test
  void taskThatThrowsChangesNothingElse() throws InterruptedException {
    try (Scheduler scheduler = Scheduler.create(name)) {
      CountDownLatch ran = new CountDownLatch(2);
      Runnable failing =
          () -> {
            throw new IllegalStateException("by the test");
          };
      scheduler.schedule(failing, 0);
      scheduler.execute(failing);
      scheduler.schedule(ran::countDown, 1_000_000);
      scheduler.execute(ran::countDown);
      assertThat(ran.await(20, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void taskThatOverflowsTheStackDoesNotEndTheTimers() throws InterruptedException {
    try (Scheduler scheduler = Scheduler.create(name)) {
      CountDownLatch ran = new CountDownLatch(2);
      Runnable failing =
          () -> {
            throw new StackOverflowError("by the test");
          };
      scheduler.schedule(failing, 0);
      scheduler.callbacks().execute(failing);
      scheduler.schedule(ran::countDown, 1_000_000);
      scheduler.callbacks().execute(ran::countDown);
      assertThat(ran.await(20, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void timersRunInTheOrderOfTheirTimesThoughSetInAnother() throws InterruptedException {
    try (Scheduler scheduler = Scheduler.create(name)) {
      List<Integer> order = new CopyOnWriteArrayList<>();
      CountDownLatch ran = new CountDownLatch(5);
      for (int i : new int[] {4, 0, 3, 1, 2}) {
        scheduler.schedule(
            () -> {
              order.add(i);
              ran.countDown();
            },
            TimeUnit.MILLISECONDS.toNanos(30 + 250L * i));
      }
      scheduler.schedule(ran::countDown, Long.MAX_VALUE).cancel();
      scheduler.schedule(ran::countDown, Long.MAX_VALUE);
      assertThat(ran.await(20, TimeUnit.SECONDS)).isTrue();
      assertThat(order).containsExactly(0, 1, 2, 3, 4);
    }
  }

  @Test
  void callbackThatBlocksDelaysNoTimerAndNoOtherCallback() throws InterruptedException {
    CountDownLatch gate = new CountDownLatch(1);
    CountDownLatch ran = new CountDownLatch(2);
    try (Scheduler scheduler = Scheduler.create(name)) {
      for (int i = 0; i < 50; i++) {
        scheduler.execute(
            () -> {
              try {
                gate.await();
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            });
      }
      scheduler.schedule(ran::countDown, 0);
      scheduler.execute(ran::countDown);
      assertThat(ran.await(20, TimeUnit.SECONDS)).isTrue();
      gate.countDown();
    }
  }

  @Test
  void cancelledTimerDoesNotRunNorDoesOneAfterClose() throws InterruptedException {
    AtomicInteger runs = new AtomicInteger();
    CountDownLatch later = new CountDownLatch(1);
    Scheduler scheduler = Scheduler.create(name);
    scheduler.schedule(runs::incrementAndGet, 20_000_000).cancel();
    scheduler.schedule(later::countDown, 40_000_000);
    assertThat(later.await(20, TimeUnit.SECONDS)).isTrue();
    scheduler.close();
    scheduler.schedule(runs::incrementAndGet, 0);
    await().until(() -> threads() == 0);
    assertThat(runs).hasValue(0);
  }

  @Test
  void taskAndCallbackThatAreGivenAfterTheCloseRunAndLeaveNoThread() throws InterruptedException {
    CountDownLatch ran = new CountDownLatch(2);
    Scheduler scheduler = Scheduler.create(name);
    scheduler.close();
    scheduler.execute(ran::countDown);
    scheduler.callbacks().execute(ran::countDown);
    assertThat(ran.await(20, TimeUnit.SECONDS)).isTrue();
    await().until(() -> threads() == 0);
  }

  @Test
  void callbackThatRunsMayFinishAfterClose() {
    CountDownLatch began = new CountDownLatch(1);
    CountDownLatch gate = new CountDownLatch(1);
    AtomicInteger finished = new AtomicInteger();
    Scheduler scheduler = Scheduler.create(name);
    scheduler.execute(
        () -> {
          began.countDown();
          try {
            gate.await();
            finished.incrementAndGet();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        });
    await().until(() -> began.getCount() == 0);
    scheduler.close();
    gate.countDown();
    await().until(() -> finished.get() == 1 && threads() == 0);
  }

  @Test
  void durationsSaturate() {
    assertThat(Scheduler.toNanosSaturated(Duration.ofSeconds(Long.MAX_VALUE)))
        .isEqualTo(Long.MAX_VALUE);
    assertThat(Scheduler.toNanosSaturated(Duration.ofSeconds(Long.MIN_VALUE)))
        .isEqualTo(Long.MIN_VALUE);
    assertThat(Scheduler.toNanosSaturated(Duration.ofNanos(-7))).isEqualTo(-7);
  }

  @Test
  void systemWallClockIsInMicroseconds() {
    long before = System.currentTimeMillis() * 1_000;
    long micros = Ticker.system().wallMicros();
    long after = (System.currentTimeMillis() + 1) * 1_000;
    assertThat(micros).isBetween(before, after);
    assertThat(Ticker.system().wallInstant().toEpochMilli())
        .isBetween(before / 1_000, after / 1_000 + 1_000);
  }
}
