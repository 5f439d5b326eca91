package dev.lukko.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.sql.SQLException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BoundedWaitTest {
  private static final long LONG = TimeUnit.HOURS.toNanos(1);

  @AfterEach
  void clearTheInterrupt() {
    Thread.interrupted();
  }

  @Test
  void interruptDoesNotCutTheWaitShortAndIsKept() throws Exception {
    CompletableFuture<String> call = new CompletableFuture<>();
    Thread waiting = Thread.currentThread();
    Thread server =
        new Thread(
            () -> {
              waiting.interrupt();
              while (waiting.isInterrupted()) {
                Thread.onSpinWait(); // Until the wait has met it.
              }
              call.complete("answer");
            });
    server.start();
    assertThat(BoundedWait.result(call, LONG)).isEqualTo("answer");
    assertThat(Thread.interrupted()).isTrue();
    server.join();

    ReentrantLock free = new ReentrantLock();
    Thread.currentThread().interrupt();
    assertThat(BoundedWait.lock(free, LONG)).isTrue();
    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  void waitEndsInTimeWithoutAResultAndWithoutTheLock() throws Exception {
    assertThatThrownBy(() -> BoundedWait.result(new CompletableFuture<>(), 1))
        .isInstanceOf(TimeoutException.class);
    ReentrantLock taken = new ReentrantLock();
    Thread holder = new Thread(taken::lock);
    holder.start();
    holder.join();
    assertThat(BoundedWait.lock(taken, 1)).isFalse();
  }

  @Test
  void failureOfTheCallIsThrownAsItIsIfItIsOneOfTheDatabaseOrUnchecked() {
    SQLException refused = new SQLException("refused");
    assertThatThrownBy(() -> BoundedWait.result(CompletableFuture.failedFuture(refused), LONG))
        .isSameAs(refused);
    IllegalStateException bug = new IllegalStateException("bug");
    assertThatThrownBy(() -> BoundedWait.result(CompletableFuture.failedFuture(bug), LONG))
        .isSameAs(bug);
    IOException other = new IOException("other");
    assertThatThrownBy(() -> BoundedWait.result(CompletableFuture.failedFuture(other), LONG))
        .isInstanceOf(SQLException.class)
        .hasCause(other);
  }
}
