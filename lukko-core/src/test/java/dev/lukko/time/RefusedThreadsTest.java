package dev.lukko.time;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** No task is lost, whatever threads the JVM refuses, and the number of threads has a bound. */
class RefusedThreadsTest {
  private static final AtomicInteger NUMBER = new AtomicInteger();

  private final String name = "lukko-refused-test-" + NUMBER.incrementAndGet();
  private final ThreadFactory real = new DaemonThreads(name);
  private final AtomicInteger allowed = new AtomicInteger();
  private final AtomicBoolean gives = new AtomicBoolean(true);
  private final ThreadFactory limited =
      work -> {
        if (allowed.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
          return real.newThread(work);
        }
        if (gives.get()) {
          return new Thread(work) {
            @Override
            public void start() {
              throw new OutOfMemoryError("unable to create native thread, by the test");
            }
          };
        }
        return null;
      };
  private final CountDownLatch gate = new CountDownLatch(1);
  private Scheduler scheduler =
      new ThreadScheduler(new DaemonThreads(name + "-timer"), limited, limited, null);

  @AfterEach
  void close() {
    gate.countDown();
    scheduler.close();
    await().until(() -> threads() == 0);
  }

  private long threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith(name))
        .count();
  }

  private void awaitGate() {
    boolean interrupted = false;
    while (gate.getCount() > 0) {
      try {
        gate.await();
      } catch (InterruptedException later) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void tasksThatGetNoThreadRunInOrderWhenThereIsOne(boolean startFails) throws Exception {
    gives.set(startFails);
    List<Integer> ran = new ArrayList<>();
    CountDownLatch all = new CountDownLatch(1_000);
    for (int i = 0; i < 1_000; i++) {
      int number = i;
      scheduler
          .callbacks()
          .execute(
              () -> {
                ran.add(number);
                all.countDown();
              });
    }
    assertThat(ran).isEmpty();
    allowed.set(1);
    assertThat(all.await(20, TimeUnit.SECONDS)).isTrue();
    assertThat(ran).hasSize(1_000).isSorted();
  }

  @Test
  void taskRunsThoughTheOnlyThreadThatCouldBeHadIsBusyForEver() throws Exception {
    allowed.set(1);
    Semaphore began = new Semaphore(0);
    scheduler
        .callbacks()
        .execute(
            () -> {
              began.release();
              awaitGate();
            });
    assertThat(began.tryAcquire(20, TimeUnit.SECONDS)).isTrue();
    CountDownLatch ran = new CountDownLatch(1);
    scheduler.callbacks().execute(ran::countDown);
    assertThat(ran.getCount()).isOne();
    allowed.set(1);
    assertThat(ran.await(20, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void tasksThatWaitForAThreadWhenTheSchedulerIsClosedRunAtOnce() {
    AtomicInteger ran = new AtomicInteger();
    scheduler.callbacks().execute(ran::incrementAndGet);
    scheduler.execute(ran::incrementAndGet);
    scheduler.close();
    assertThat(ran).hasValue(2);
    scheduler.callbacks().execute(ran::incrementAndGet);
    assertThat(ran).hasValue(3);
  }

  @Test
  void timerThatGetsNoThreadIsRefusedAndALaterOneRuns() throws Exception {
    Scheduler timers = new ThreadScheduler(limited, limited, limited, null);
    AtomicInteger refused = new AtomicInteger();
    assertThatThrownBy(() -> timers.schedule(refused::incrementAndGet, 0))
        .isInstanceOf(OutOfMemoryError.class);
    gives.set(false);
    assertThatThrownBy(() -> timers.schedule(refused::incrementAndGet, 0))
        .isInstanceOf(RejectedExecutionException.class);
    allowed.set(1);
    CountDownLatch ran = new CountDownLatch(1);
    timers.schedule(ran::countDown, 0);
    assertThat(ran.await(20, TimeUnit.SECONDS)).isTrue();
    assertThat(refused).hasValue(0);
    timers.close();
  }

  @Test
  void callbacksThatBlockTakeABoundedNumberOfThreadsAndAllOfThemRun() throws Exception {
    allowed.set(Integer.MAX_VALUE);
    CountDownLatch all = new CountDownLatch(3_000);
    Set<Thread> used = ConcurrentHashMap.newKeySet();
    for (int i = 0; i < 3_000; i++) {
      scheduler
          .callbacks()
          .execute(
              () -> {
                used.add(Thread.currentThread());
                awaitGate();
                all.countDown();
              });
    }
    assertThat(threads()).isLessThanOrEqualTo(ThreadScheduler.MOST_CALLBACK_THREADS);
    gate.countDown();
    assertThat(all.await(60, TimeUnit.SECONDS)).isTrue();
    assertThat(used).hasSizeLessThanOrEqualTo(ThreadScheduler.MOST_CALLBACK_THREADS);
  }

  @Test
  void callbackBeyondTheBoundRunsInAFurtherThreadWhereTheJdkHasThem() throws Exception {
    ThreadFactory further = new DaemonThreads(name + "-v");
    scheduler.close();
    scheduler = new ThreadScheduler(new DaemonThreads(name + "-timer"), limited, limited, further);
    allowed.set(Integer.MAX_VALUE);
    for (int i = 0; i < ThreadScheduler.MOST_CALLBACK_THREADS; i++) {
      scheduler.callbacks().execute(this::awaitGate);
    }
    CountDownLatch ran = new CountDownLatch(1);
    scheduler.callbacks().execute(ran::countDown);
    assertThat(ran.await(20, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void virtualThreadsAreMadeWhereTheJdkHasThem() throws Exception {
    ThreadFactory virtual = VirtualThreads.factory(name);
    assertThat(virtual != null).isEqualTo(Runtime.version().feature() >= 21);
    if (virtual != null) {
      CountDownLatch ran = new CountDownLatch(1);
      virtual.newThread(ran::countDown).start();
      assertThat(ran.await(20, TimeUnit.SECONDS)).isTrue();
    }
  }
}
