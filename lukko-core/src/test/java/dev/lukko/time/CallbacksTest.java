package dev.lukko.time;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class CallbacksTest {
  private static final String NAME = "lukko-callbacks-test";

  private static long threads(String name) {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith(name))
        .count();
  }

  @Test
  void executorThatThrowsLosesNoTask() throws Exception {
    CountDownLatch ran = new CountDownLatch(2);
    Executor rejecting =
        task -> {
          throw new RejectedExecutionException("by the test");
        };
    Executor failing =
        task -> {
          throw new OutOfMemoryError("by the test");
        };
    try (Callbacks.ClosableExecutor first = Callbacks.neverRefusing(rejecting, NAME);
        Callbacks.ClosableExecutor second = Callbacks.neverRefusing(failing, NAME)) {
      first.execute(ran::countDown);
      second.execute(ran::countDown);
      assertThat(ran.await(20, TimeUnit.SECONDS)).isTrue();
    }
    await().until(() -> threads(NAME) == 0);
  }

  @Test
  void taskThatWasBegunByAnExecutorThatThenThrowsRunsOnce() {
    AtomicInteger runs = new AtomicInteger();
    Executor both =
        task -> {
          task.run();
          throw new RejectedExecutionException("by the test");
        };
    try (Callbacks.ClosableExecutor executor = Callbacks.neverRefusing(both, NAME)) {
      CountDownLatch next = new CountDownLatch(1);
      executor.execute(runs::incrementAndGet);
      executor.execute(next::countDown);
      assertThat(next.getCount()).isZero();
    }
    await().until(() -> threads(NAME) == 0);
    assertThat(runs).hasValue(1);
  }

  @Test
  void taskThatThrowsInAnOrderDoesNotEndTheOrder() {
    List<Integer> ran = new CopyOnWriteArrayList<>();
    List<Runnable> given = new CopyOnWriteArrayList<>();
    Executor inOrder = Callbacks.inOrder(given::add);
    inOrder.execute(() -> ran.add(1));
    inOrder.execute(
        () -> {
          throw new AssertionError("by the test");
        });
    inOrder.execute(() -> ran.add(3));
    assertThat(given).hasSize(1);
    given.get(0).run();
    assertThat(ran).containsExactly(1, 3);
    inOrder.execute(() -> ran.add(4));
    assertThat(given).hasSize(2);
  }

  @Test
  void dependentStageRunsInTheExecutorAndNotInTheThreadThatEndsTheFuture() {
    List<Runnable> given = new CopyOnWriteArrayList<>();
    CompletableFuture<String> inner = new CompletableFuture<>();
    CompletableFuture<String> handedOut = Callbacks.handOut(inner, given::add);
    AtomicReference<String> seen = new AtomicReference<>();
    handedOut.thenAccept(seen::set);
    inner.complete("value");
    assertThat(seen).hasValue(null);
    given.forEach(Runnable::run);
    assertThat(seen).hasValue("value");
  }

  @Test
  void failureIsHandedOutAsItIs() {
    Exception cause = new Exception("by the test");
    CompletableFuture<String> inner = CompletableFuture.failedFuture(cause);
    AtomicReference<Throwable> seen = new AtomicReference<>();
    Callbacks.handOut(inner, Runnable::run).whenComplete((value, failure) -> seen.set(failure));
    assertThat(seen).hasValue(cause);
    assertThat(seen.get()).isNotInstanceOf(CompletionException.class);
  }

  @Test
  void threadsInheritNeitherThreadLocalsNorTheClassLoaderOfTheirFirstUser() throws Exception {
    InheritableThreadLocal<String> tenant = new InheritableThreadLocal<>();
    Thread test = Thread.currentThread();
    ClassLoader before = test.getContextClassLoader();
    try (Scheduler scheduler = Scheduler.create(NAME)) {
      tenant.set("first");
      test.setContextClassLoader(new ClassLoader(before) {});
      CompletableFuture<List<Object>> timer = new CompletableFuture<>();
      CompletableFuture<List<Object>> task = new CompletableFuture<>();
      CompletableFuture<List<Object>> callback = new CompletableFuture<>();
      scheduler.schedule(() -> timer.complete(seen(tenant)), 0);
      scheduler.execute(() -> task.complete(seen(tenant)));
      scheduler.callbacks().execute(() -> callback.complete(seen(tenant)));
      List<Object> ours = List.of("nothing", before);
      assertThat(timer.get(20, TimeUnit.SECONDS)).isEqualTo(ours);
      assertThat(task.get(20, TimeUnit.SECONDS)).isEqualTo(ours);
      assertThat(callback.get(20, TimeUnit.SECONDS)).isEqualTo(ours);
    } finally {
      test.setContextClassLoader(before);
      tenant.remove();
    }
    await().until(() -> threads(NAME) == 0);
  }

  private static List<Object> seen(InheritableThreadLocal<String> tenant) {
    String value = tenant.get();
    return List.of(
        value == null ? "nothing" : value, Thread.currentThread().getContextClassLoader());
  }

  @Test
  void callbackLeavesNeitherAnInterruptNorAClassLoaderToTheNextOne() throws Exception {
    ClassLoader loader = Thread.currentThread().getContextClassLoader();
    try (Scheduler scheduler = Scheduler.create(NAME)) {
      for (int i = 0; i < 3; i++) {
        CompletableFuture<List<Object>> found = new CompletableFuture<>();
        scheduler
            .callbacks()
            .execute(
                () -> {
                  Thread thread = Thread.currentThread();
                  found.complete(List.of(thread.isInterrupted(), thread.getContextClassLoader()));
                  thread.setContextClassLoader(new ClassLoader() {});
                  thread.interrupt();
                });
        assertThat(found.get(20, TimeUnit.SECONDS)).isEqualTo(List.of(false, loader));
      }
    }
    await().until(() -> threads(NAME) == 0);
  }
}
