package dev.lukko.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.lukko.Lease;
import dev.lukko.LockClient;
import dev.lukko.LockInterruptedException;
import dev.lukko.LockRequest;
import dev.lukko.QuorumUnavailableException;
import dev.lukko.memory.InMemoryNode;
import dev.lukko.redlock.Redlock;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.testkit.ManualTime;
import dev.lukko.time.Scheduler;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** When a node may use the thread of a blocking call. */
class CallersThreadTest {
  private static final Duration TTL = Duration.ofSeconds(10);
  private static final Duration NODE_TIMEOUT = Duration.ofMillis(500);

  private final ManualTime time = new ManualTime();
  private final InMemoryNode memory = new InMemoryNode("n", time);
  private final Asked node = new Asked(memory);
  private final Redlock client = client(node);

  private Redlock client(LockNode... nodes) {
    return Redlock.builder()
        .nodes(List.of(nodes))
        .ticker(time)
        .scheduler(time)
        .nodeTimeout(NODE_TIMEOUT)
        .quarantine(false)
        .build();
  }

  @AfterEach
  void close() {
    Thread.interrupted();
    client.close();
  }

  @Test
  void blockingCallOnOneNode_offersItsThread_forTheNodeTimeout() {
    client.acquire("r", TTL).release();
    client.tryAcquire("r", TTL).orElseThrow().close();
    client.run("r", TTL, lease -> {});
    client.asLock("r", TTL).lock();

    String grant = "grantInCaller " + NODE_TIMEOUT.toNanos();
    String release = "releaseInCaller " + NODE_TIMEOUT.toNanos();
    assertThat(node.verbs).containsExactly(grant, release, grant, release, grant, release, grant);
  }

  @Test
  void asynchronousCall_keepsItsThread() {
    Lease lease = client.acquireAsync("r", TTL).join();
    lease.releaseAsync().join();
    client.usingAsync("r", TTL, inside -> CompletableFuture.completedFuture("done")).join();

    assertThat(node.verbs).containsExactly("grant", "release", "grant", "release");
  }

  @Test
  void callOnTwoNodes_keepsItsThread() {
    Asked other = new Asked(new InMemoryNode("other", time));
    try (Redlock both = client(node, other)) {
      both.acquire("r", TTL).release();
    }
    assertThat(node.verbs).containsExactly("grant", "release", "close");
    assertThat(other.verbs).containsExactly("grant", "release", "close");
  }

  @Test
  void roundAfterTheFirst_isNotAskedInTheCallersThread() {
    Lease before = client.acquireAsync("r", TTL).join();
    CompletableFuture<Lease> waiting =
        CompletableFuture.supplyAsync(
            () ->
                client.acquire(
                    LockRequest.builder("r").ttl(TTL).maxWait(LockRequest.FOREVER).build()));
    await().until(() -> node.verbs.stream().anyMatch(verb -> verb.startsWith("grantInCaller")));
    await()
        .until(
            () -> {
              time.advance(Duration.ofMillis(50));
              return node.verbs.stream().filter("grant"::equals).count() > 1;
            });
    before.releaseAsync().join();
    await()
        .until(
            () -> {
              time.advance(Duration.ofMillis(50));
              return waiting.isDone();
            });

    assertThat(node.verbs.stream().filter(verb -> verb.startsWith("grantInCaller"))).hasSize(1);
    waiting.join().releaseAsync().join();
  }

  @Test
  void nodeThatGoesOnElsewhere_hasTheRestOfTheNodeTimeout() {
    assertThat(time.pending()).isZero();
    node.inside =
        () -> {
          time.advance(NODE_TIMEOUT.minusMillis(1));
          node.silent = true;
        };
    CompletableFuture<Throwable> failure =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return new AssertionError(client.tryAcquire("r", TTL));
              } catch (RuntimeException expected) {
                return expected;
              }
            });
    await().until(() -> time.pending() == 2); // The round's and the call's.
    assertThat(failure).isNotDone();

    time.advance(Duration.ofMillis(1));

    assertThat(failure)
        .succeedsWithin(Duration.ofSeconds(30))
        .isInstanceOf(QuorumUnavailableException.class);
  }

  @Test
  void interruptInsideTheNode_givesUp_keepsTheFlag_andLeavesNothing() {
    node.inside = () -> Thread.currentThread().interrupt();

    assertThatThrownBy(() -> client.acquire("r", TTL)).isInstanceOf(LockInterruptedException.class);

    assertThat(Thread.interrupted()).isTrue();
    assertThat(node.verbs).hasSize(2).last().isEqualTo("release");
    node.inside = () -> {};
    client.acquire("r", TTL).release();
  }

  @Test
  void grantElsewhereInTheMomentOfAnInterrupt_isTakenBack() throws Exception {
    CountDownLatch granted = new CountDownLatch(1);
    CountDownLatch thrown = new CountDownLatch(1);
    Scheduler slow = new SlowCallbacks(time, granted, thrown);
    ExecutorService elsewhere = Executors.newSingleThreadExecutor();
    try (LockClient heard =
        Redlock.builder()
            .node(node)
            .ticker(time)
            .scheduler(slow)
            .nodeTimeout(NODE_TIMEOUT)
            .quarantine(false)
            .closeNodes(false)
            .listener(event -> {})
            .build()) {
      node.wrapped = stage -> new EndsElsewhere<>(stage, elsewhere, granted);
      node.inside = () -> Thread.currentThread().interrupt();

      assertThatThrownBy(() -> heard.acquire("r", TTL))
          .isInstanceOf(LockInterruptedException.class);

      assertThat(Thread.interrupted()).isTrue();
      thrown.countDown();
      await().untilAsserted(() -> assertThat(node.verbs).last().isEqualTo("release"));
    } finally {
      elsewhere.shutdownNow();
    }
  }

  /** Callbacks that are taken over only when the test says so. */
  private record SlowCallbacks(Scheduler real, CountDownLatch begun, CountDownLatch goOn)
      implements Scheduler {
    @Override
    public Timer schedule(Runnable task, long delayNanos) {
      return real.schedule(task, delayNanos);
    }

    @Override
    public void execute(Runnable task) {
      begun.countDown();
      awaited(goOn);
      real.execute(task);
    }

    @Override
    public void close() {}
  }

  /**
   * A stage whose end is dealt with in another thread, which has come far when this one goes on.
   */
  private static final class EndsElsewhere<T> extends CompletableFuture<T> {
    private final CompletionStage<T> real;
    private final Executor elsewhere;
    private final CountDownLatch far;

    EndsElsewhere(CompletionStage<T> real, Executor elsewhere, CountDownLatch far) {
      this.real = real;
      this.elsewhere = elsewhere;
      this.far = far;
    }

    @Override
    public CompletableFuture<T> whenComplete(BiConsumer<? super T, ? super Throwable> action) {
      real.whenCompleteAsync(action, elsewhere);
      // The interrupt is the test's, and set aside for this wait.
      boolean interrupted = Thread.interrupted();
      awaited(far);
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
      return this;
    }
  }

  private static void awaited(CountDownLatch latch) {
    try {
      assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException interrupted) {
      throw new AssertionError(interrupted);
    }
  }

  @Test
  void closeOfTheClient_waitsForAReleaseInsideTheNode() throws Exception {
    Lease lease = client.acquire("r", TTL);
    Thread closer = new Thread(client::close, "closer");
    node.insideRelease =
        () -> {
          closer.start();
          await()
              .until(
                  () ->
                      node.verbs.contains("close")
                          || closer.getState() == Thread.State.TIMED_WAITING);
          node.verbs.add("sent");
        };

    lease.release();

    closer.join(30_000);
    assertThat(closer.isAlive()).isFalse();
    assertThat(node.verbs.subList(node.verbs.size() - 2, node.verbs.size()))
        .containsExactly("sent", "close");
  }

  @Test
  void callerThatIsInterruptedAlready_keepsItsThread_andItsFlag() {
    Thread.currentThread().interrupt();

    Lease lease = client.acquire("r", TTL); // The node answers at once, so nothing is waited for.

    assertThat(Thread.interrupted()).isTrue();
    assertThat(node.verbs).containsExactly("grant");
    lease.close();
  }

  @Test
  void nodeThatThrowsInTheCallersThread_isAnUnknownOutcome() {
    node.inside =
        () -> {
          throw new IllegalStateException("a bug in the node");
        };

    assertThatThrownBy(() -> client.tryAcquire("r", TTL))
        .isInstanceOf(QuorumUnavailableException.class)
        .hasMessageContaining("a bug in the node");
    assertThat(node.verbs).last().isEqualTo("release");
  }

  /** A node that tells which verbs it was asked by. */
  private static final class Asked extends PlainNode {
    final List<String> verbs = new CopyOnWriteArrayList<>();
    volatile Runnable inside = () -> {};
    volatile Runnable insideRelease = () -> {};
    volatile boolean silent;
    volatile UnaryOperator<CompletionStage<GrantReply>> wrapped = UnaryOperator.identity();

    Asked(LockNode node) {
      super(node);
    }

    @Override
    public CompletionStage<GrantReply> grant(GrantRequest request) {
      verbs.add("grant");
      return super.grant(request);
    }

    @Override
    public CompletionStage<GrantReply> grantInCaller(GrantRequest request, long patienceNanos) {
      verbs.add("grantInCaller " + patienceNanos);
      inside.run();
      return silent ? new CompletableFuture<>() : wrapped.apply(super.grant(request));
    }

    @Override
    public CompletionStage<ReleaseReply> release(LockEntry entry) {
      verbs.add("release");
      return super.release(entry);
    }

    @Override
    public CompletionStage<ReleaseReply> releaseInCaller(LockEntry entry, long patienceNanos) {
      verbs.add("releaseInCaller " + patienceNanos);
      insideRelease.run();
      return super.release(entry);
    }

    @Override
    public void close() {
      verbs.add("close");
      super.close();
    }
  }
}
