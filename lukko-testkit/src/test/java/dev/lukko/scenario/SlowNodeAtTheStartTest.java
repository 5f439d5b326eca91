package dev.lukko.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.lukko.ClientClosedException;
import dev.lukko.Lease;
import dev.lukko.LockRequest;
import dev.lukko.QuorumUnavailableException;
import dev.lukko.memory.InMemoryNode;
import dev.lukko.redlock.Redlock;
import dev.lukko.spi.Failed;
import dev.lukko.spi.ForwardingNode;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeStatus;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A node that has not told yet who it is when its client is built, acquires and goes away. */
class SlowNodeAtTheStartTest {
  private static final LockRequest PATIENT =
      LockRequest.builder("r").ttl(Duration.ofMinutes(1)).maxWait(Duration.ofMinutes(1)).build();

  private final InMemoryNode store = new InMemoryNode("slow");
  private final SlowNode slow = new SlowNode(store);

  @Test
  void grantOfAReleasedLeaseIsNeverSentToANodeThatTellsLaterWhoItIs() {
    try (Redlock client = withoutQuarantine()) {
      Lease lease = client.acquire(PATIENT);
      lease.release();

      slow.tell();

      assertThat(slow.grants).isZero();
      assertThat(store.isHeld("r")).isFalse();
      Lease next = client.acquire(PATIENT);
      assertThat(store.isHeld("r")).isTrue();
      next.release();
    }
    assertThat(store.isHeld("r")).isFalse();
  }

  @Test
  void grantOfALeaseThatItsClientsEndReleasesIsNeverSent() {
    Redlock client = Redlock.over(new InMemoryNode("one"), new InMemoryNode("two"), slow);
    client.acquire(PATIENT);
    client.close();

    slow.tell();

    assertThat(slow.grants).isZero();
    assertThat(store.isHeld("r")).isFalse();
  }

  @Test
  void grantOfACallThatItsClientsEndAbortsIsNeverSent() {
    Redlock client = Redlock.over(slow);
    CompletableFuture<Lease> pending = client.acquireAsync(PATIENT);
    client.close();
    assertThatThrownBy(pending::join)
        .isInstanceOf(CompletionException.class)
        .hasCauseInstanceOf(ClientClosedException.class);

    slow.tell();

    assertThat(slow.grants).isZero();
    assertThat(store.isHeld("r")).isFalse();
  }

  @Test
  void callGoesOnWhileTheFirstConnectionIsBeingMade() {
    slow.status =
        NodeStatus.unreachable(Failed.NOT_CONNECTED + ": the first connection is being made");
    try (Redlock client = Redlock.over(slow)) {
      CompletableFuture<Lease> pending = client.acquireAsync(PATIENT);
      await().until(() -> slow.questions.get() > 2);
      assertThat(pending).isNotDone();

      slow.tell();
      slow.status = null;

      assertThat(pending).succeedsWithin(Duration.ofSeconds(30));
      pending.join().release();
    }
  }

  @Test
  void callFailsAtOnceWhenTheFirstConnectionIsRefused() {
    slow.status = NodeStatus.unreachable("connection refused: by the test");
    try (Redlock client = Redlock.over(slow)) {
      assertThatThrownBy(() -> client.acquire(PATIENT))
          .isInstanceOfSatisfying(
              QuorumUnavailableException.class,
              failure -> assertThat(failure.rounds()).isEqualTo(1));
    }
  }

  @Test
  void grantOfACancelledCallIsNeverSent() {
    try (Redlock client = Redlock.over(slow)) {
      client.acquireAsync(PATIENT).cancel(true);

      slow.tell();

      assertThat(slow.grants).isZero();
      assertThat(store.isHeld("r")).isFalse();
    }
  }

  @Test
  void leaseThatIsStillHeldIsPutOnTheNodeByItsNextExtension() {
    try (Redlock client = withoutQuarantine()) {
      Lease lease = client.acquire(PATIENT);

      slow.tell();
      assertThat(store.isHeld("r")).isFalse();
      assertThat(lease.extend(Duration.ofMinutes(1))).isTrue();

      assertThat(store.isHeld("r")).isTrue();
      lease.release();
      assertThat(store.isHeld("r")).isFalse();
    }
  }

  private Redlock withoutQuarantine() {
    return Redlock.builder()
        .node(new InMemoryNode("one"))
        .node(new InMemoryNode("two"))
        .node(slow)
        .quarantine(false)
        .build();
  }

  /** A node that tells who it is when the test says so. */
  private static final class SlowNode extends ForwardingNode {
    private final CompletableFuture<NodeStatus> told = new CompletableFuture<>();
    private final AtomicInteger questions = new AtomicInteger();
    private volatile NodeStatus status;
    private int grants;

    SlowNode(LockNode node) {
      super(node);
    }

    void tell() {
      node().status().thenAccept(told::complete);
    }

    @Override
    public CompletionStage<NodeStatus> status() {
      questions.incrementAndGet();
      NodeStatus known = status;
      return known == null ? told.copy() : CompletableFuture.completedFuture(known);
    }

    @Override
    public CompletionStage<GrantReply> grant(GrantRequest request) {
      grants++;
      return super.grant(request);
    }

    /** As behind a server: open for as long as the test looks at it. */
    @Override
    public void close() {}

    @Override
    public String toString() {
      return "slow, " + List.of(grants) + " grants";
    }
  }
}
