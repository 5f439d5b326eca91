package dev.lukko.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lukko.postgres.PostgresServer.Database;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A network to the server that says nothing any more, and does not end either. */
@ExtendWith(PostgresServer.Shared.class)
class QueueOnASilentWireTest {
  private static final long FAR_BEYOND_EVERY_BOUND = 120;

  private TcpProxy wire;
  private SkipLockedQueue queue;

  @BeforeEach
  void open(Database database) throws IOException {
    wire = new TcpProxy(database.port());
    queue =
        SkipLockedQueue.builder(database.through(wire.port()).dataSource(), "mail")
            .pollInterval(Duration.ofHours(1))
            .build();
  }

  @AfterEach
  void close() throws IOException {
    wire.close();
    queue.close();
  }

  private CompletableFuture<Boolean> waitingWorker() throws Exception {
    CountDownLatch looked = new CountDownLatch(1);
    CompletableFuture<Boolean> woken = worker(looked);
    assertThat(looked.await(FAR_BEYOND_EVERY_BOUND, TimeUnit.SECONDS)).isTrue();
    return woken;
  }

  private CompletableFuture<Boolean> worker(CountDownLatch looked) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            queue.claim(1).close();
            looked.countDown();
            return queue.awaitWork(Duration.ofMinutes(30));
          } catch (InterruptedException never) {
            throw new IllegalStateException(never);
          }
        });
  }

  /** A worker that waits while somebody listens for it. */
  private CompletableFuture<Boolean> workerThatIsListenedFor() throws Exception {
    waitingWorker().get(FAR_BEYOND_EVERY_BOUND, TimeUnit.SECONDS); // Woken once to look again.
    return waitingWorker();
  }

  @Test
  void closeReturnsAndWaitingWorkersEnd() throws Exception {
    CompletableFuture<Boolean> worker = workerThatIsListenedFor();
    wire.cut();
    CompletableFuture<Void> closed = CompletableFuture.runAsync(queue::close);
    closed.get(FAR_BEYOND_EVERY_BOUND, TimeUnit.SECONDS);
    assertThat(worker.get(FAR_BEYOND_EVERY_BOUND, TimeUnit.SECONDS)).isFalse();
  }

  @Test
  void callsEndInsteadOfWaitingForEver() throws Exception {
    queue.enqueue(QueueJob.of("x"));
    SkipLockedQueue.Claim claim = queue.claim(1);
    wire.cut();
    CompletableFuture<Void> commit =
        CompletableFuture.runAsync(
            () -> {
              claim.finishAll();
              claim.commit();
            });
    assertThatThrownBy(() -> commit.get(FAR_BEYOND_EVERY_BOUND, TimeUnit.SECONDS))
        .hasRootCauseInstanceOf(IOException.class);
    claim.close();
  }

  @Test
  void listenerWhoseConnectionIsHalfOpenIsReplacedAndNotWaitedForUntilTheNextPoll()
      throws Exception {
    CompletableFuture<Boolean> worker = workerThatIsListenedFor();
    wire.lose(); // Nothing tells the listener that its own connection is dead.
    queue.enqueue(QueueJob.of("x"));
    assertThat(worker.get(FAR_BEYOND_EVERY_BOUND, TimeUnit.SECONDS)).isTrue();
  }
}
