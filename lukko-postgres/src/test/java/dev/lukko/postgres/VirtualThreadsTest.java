package dev.lukko.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.lukko.Lease;
import dev.lukko.postgres.PostgresServer.Database;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Runs where the JVM has virtual threads. */
@ExtendWith(PostgresServer.Shared.class)
class VirtualThreadsTest {
  private static final Duration TTL = Duration.ofSeconds(30);

  @Test
  void anInterruptedVirtualThreadDoesNotTakeTheSessionAlong(Database database) throws Exception {
    assumeTrue(Runtime.version().feature() >= 21, "no virtual threads");
    try (PostgresAdvisoryLocks locks = database.locks().build();
        Lease bystander = locks.acquire("bystander", TTL)) {
      AtomicReference<Throwable> failure = new AtomicReference<>();
      Runnable task =
          () -> {
            Thread.currentThread().interrupt();
            try {
              Lease lease = locks.acquire("mine", TTL);
              assertThat(lease.release().status())
                  .isEqualTo(dev.lukko.ReleaseOutcome.Status.RELEASED);
              assertThat(Thread.currentThread().isInterrupted()).as("flag kept").isTrue();
            } catch (Throwable thrown) {
              failure.set(thrown);
            }
          };
      Thread virtual =
          (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
      virtual.join();
      assertThat(failure.get()).isNull();
      assertThat(bystander.extend(TTL)).as("the session lives").isTrue();
    }
  }
}
