package dev.lukko.redis;

import static dev.lukko.redis.FiveServers.R;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lukko.Lease;
import dev.lukko.LockInterruptedException;
import dev.lukko.LockRequest;
import dev.lukko.redlock.Redlock;
import dev.lukko.testkit.FaultProxy;
import dev.lukko.testkit.FaultProxy.Direction;
import dev.lukko.testkit.rows.FaultRow;
import dev.lukko.testkit.rows.FaultRows;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Row 44: threads that are interrupted, executors that are shut down and callbacks that fail at
 * each point at which a call waits. That no entry and no thread is left is looked at after each
 * test.
 */
class InterruptionOnServersTest {
  /** Nothing may be left after a ttl: the look after each test waits for that long. */
  private static final Duration TTL = Duration.ofSeconds(60);

  private static final Duration AGES = Duration.ofMinutes(10);
  private static final Duration BOUND = Duration.ofSeconds(30);

  @RegisterExtension static final FiveServers servers = new FiveServers();

  private static LockRequest patient() {
    return LockRequest.builder(R).ttl(TTL).maxWait(AGES).build();
  }

  /** What a call came to, and whether the thread was still interrupted after it. */
  private record End(Throwable failure, boolean interrupted) {}

  private static CompletableFuture<End> start(ExecutorService executor, Runnable call) {
    CompletableFuture<End> end = new CompletableFuture<>();
    executor.execute(
        () -> {
          Throwable failure = null;
          try {
            call.run();
          } catch (Throwable thrown) {
            failure = thrown;
          }
          end.complete(new End(failure, Thread.interrupted()));
        });
    return end;
  }

  @FaultRow(44)
  @Test
  void executorShutDownWhileAGrantIsUnderWay_flagIsKeptAndNothingIsLeft() {
    Redlock client = servers.client(builder -> builder.nodeTimeout(AGES));
    servers.proxies().forEach(proxy -> proxy.hold(Direction.TO_CLIENT));
    ExecutorService executor = Executors.newSingleThreadExecutor();
    CompletableFuture<End> end = start(executor, () -> client.acquire(patient()));
    await().until(() -> servers.entries().size() == FiveServers.COUNT);
    executor.shutdownNow();
    assertInterrupted(end);
    servers.proxies().forEach(FaultProxy::heal);
    await().untilAsserted(() -> assertThat(servers.entries()).isEmpty());
    FaultRows.saw(44, "interrupted while all five had granted: all released, flag kept");
  }

  @FaultRow(44)
  @Test
  void interruptWhileALockIsWaitedFor_flagIsKeptAndTheHolderIsUntouched() {
    Redlock holder = servers.client();
    Redlock client = servers.client();
    try (Lease held = holder.acquire(R, TTL)) {
      ExecutorService executor = Executors.newSingleThreadExecutor();
      CompletableFuture<Thread> thread = new CompletableFuture<>();
      CompletableFuture<End> end =
          start(
              executor,
              () -> {
                thread.complete(Thread.currentThread());
                client.acquire(patient());
              });
      Thread waiter = thread.join();
      await()
          .until(
              () ->
                  waiter.getState() == Thread.State.WAITING
                      || waiter.getState() == Thread.State.TIMED_WAITING);
      executor.shutdownNow();
      assertInterrupted(end);
      assertThat(held.isValid()).isTrue();
    }
  }

  @FaultRow(44)
  @Test
  void interruptWhileAReleaseIsUnderWay_releaseGoesOnAndTheFlagIsKept() {
    Redlock client = servers.client(builder -> builder.nodeTimeout(Duration.ofMillis(500)));
    Lease lease = client.acquire(patient());
    servers.proxies().forEach(proxy -> proxy.hold(Direction.TO_CLIENT));
    ExecutorService executor = Executors.newSingleThreadExecutor();
    CompletableFuture<End> end = start(executor, lease::release);
    executor.shutdownNow();
    assertThat(end).succeedsWithin(BOUND);
    assertThat(end.join().failure()).isNull();
    assertThat(end.join().interrupted()).as("flag").isTrue();
    servers.proxies().forEach(FaultProxy::heal);
    await().untilAsserted(() -> assertThat(servers.entries()).isEmpty());
  }

  @FaultRow(44)
  @Test
  void callbackThatRunsOutOfMemory_leavesNothingBehind() {
    AtomicInteger thrown = new AtomicInteger();
    AtomicBoolean armed = new AtomicBoolean(); // not while the test builds and closes clients
    Redlock client =
        servers.client(
            builder ->
                builder
                    .nodeTimeout(Duration.ofMillis(500))
                    .listener(
                        event -> {
                          if (armed.get()) {
                            thrown.incrementAndGet();
                            throw new OutOfMemoryError("by the test");
                          }
                        }));
    LockRequest brief =
        LockRequest.builder(R).ttl(Duration.ofSeconds(1)).maxWait(Duration.ofSeconds(10)).build();
    // The errors end in a thread of the client; the waits here must not take them for their own.
    armed.set(true);
    for (int i = 0; i < 3; i++) {
      try (Lease lease = client.acquire(brief)) {
        assertThat(lease.resources()).containsExactly(R);
      }
      await()
          .dontCatchUncaughtExceptions()
          .untilAsserted(() -> assertThat(servers.entries()).isEmpty());
    }
    await().dontCatchUncaughtExceptions().until(() -> thrown.get() > 0);
    armed.set(false);
    try (Lease lease =
        servers.client(builder -> builder.nodeTimeout(Duration.ofMillis(500))).acquire(patient())) {
      assertThat(lease.isValid()).isTrue();
    }
    FaultRows.saw(
        44, "a callback ran out of memory " + thrown + " times: no entry and no thread is left");
  }

  private static void assertInterrupted(CompletableFuture<End> end) {
    assertThat(end).succeedsWithin(BOUND);
    assertThat(end.join().failure()).isInstanceOf(LockInterruptedException.class);
    assertThat(end.join().interrupted()).as("flag").isTrue();
  }
}
