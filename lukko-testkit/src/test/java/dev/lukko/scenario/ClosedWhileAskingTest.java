package dev.lukko.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lukko.LockException;
import dev.lukko.memory.InMemoryNode;
import dev.lukko.redlock.Redlock;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.spi.Unknown;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** A client that is closed while one of its threads still asks the nodes. */
class ClosedWhileAskingTest {
  private static final Duration TTL = Duration.ofMinutes(1);
  private static final int SLOW = 2;

  private final CountDownLatch reached = new CountDownLatch(1);
  private final CountDownLatch goOn = new CountDownLatch(1);
  private final CountDownLatch closing = new CountDownLatch(1);

  /** Like a node behind a connection: what was handed over takes effect, though it is closed. */
  private class ConnectedNode extends PlainNode {
    private final boolean slow;
    private volatile boolean closed;

    ConnectedNode(LockNode node, boolean slow) {
      super(node);
      this.slow = slow;
    }

    @Override
    public CompletionStage<GrantReply> grant(GrantRequest request) {
      if (!slow) {
        return super.grant(request);
      }
      reached.countDown();
      awaitLatch(goOn);
      CompletionStage<GrantReply> granted = super.grant(request);
      assertThat(granted.toCompletableFuture()).isCompleted();
      return new CompletableFuture<>(); // the reply never comes
    }

    @Override
    public CompletionStage<ReleaseReply> release(LockEntry entry) {
      return closed
          ? CompletableFuture.completedFuture(new Unknown("closed"))
          : super.release(entry);
    }

    @Override
    public void close() {
      closed = true;
      closing.countDown();
    }
  }

  private static void awaitLatch(CountDownLatch latch) {
    try {
      assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void clientClosedWhileAThreadAsksTheNodesLeavesNoEntry() throws Exception {
    List<InMemoryNode> stores =
        IntStream.range(0, 5).mapToObj(i -> new InMemoryNode("n" + i)).toList();
    Redlock client =
        Redlock.builder()
            .nodes(
                IntStream.range(0, 5)
                    .mapToObj(i -> new ConnectedNode(stores.get(i), i == SLOW))
                    .toList())
            .nodeTimeout(Duration.ofMinutes(1)) // is also the limit of the close
            .build();
    CompletableFuture<Throwable> end = new CompletableFuture<>();
    new Thread(
            () -> {
              try {
                client.acquire("r", TTL);
                end.complete(null);
              } catch (LockException closed) {
                end.complete(closed);
              }
            })
        .start();
    awaitLatch(reached);
    Thread closer = new Thread(client::close);
    closer.start();
    await().until(() -> closing.getCount() == 0 || closer.getState() == Thread.State.TIMED_WAITING);
    goOn.countDown();
    closer.join(30_000);
    assertThat(closer.isAlive()).isFalse();
    assertThat(end.get(30, TimeUnit.SECONDS)).isInstanceOf(LockException.class);
    for (InMemoryNode store : stores) {
      assertThat(store.inspect("r").toCompletableFuture().join().holders())
          .as(store.name())
          .isEmpty();
    }
  }
}
