package dev.lukko.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.lukko.Lease;
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
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
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
    assertThat(node.verbs).containsExactly("grant", "release");
    assertThat(other.verbs).containsExactly("grant", "release");
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
    volatile boolean silent;

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
      return silent ? new CompletableFuture<>() : super.grant(request);
    }

    @Override
    public CompletionStage<ReleaseReply> release(LockEntry entry) {
      verbs.add("release");
      return super.release(entry);
    }

    @Override
    public CompletionStage<ReleaseReply> releaseInCaller(LockEntry entry, long patienceNanos) {
      verbs.add("releaseInCaller " + patienceNanos);
      return super.release(entry);
    }
  }
}
