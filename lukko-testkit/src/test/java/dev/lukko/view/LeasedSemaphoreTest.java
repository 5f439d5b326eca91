package dev.lukko.view;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lukko.Lease;
import dev.lukko.LeasedSemaphore;
import dev.lukko.LockClient;
import dev.lukko.memory.InMemoryNode;
import dev.lukko.redlock.Redlock;
import dev.lukko.testkit.LockInvariants;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LeasedSemaphoreTest {
  private static final Duration TTL = Duration.ofSeconds(30);

  @RegisterExtension final LockInvariants invariants = new LockInvariants();
  private final LockClient locks =
      invariants.client(Redlock.over(invariants.node(new InMemoryNode("n1"))));

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void fiveThreadsNeverHoldMoreThanThePermits(int permits) throws Exception {
    LeasedSemaphore semaphore = locks.asSemaphore("pool", permits, TTL);
    AtomicInteger in = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    AtomicInteger sections = new AtomicInteger();
    Threads.together(
        5,
        thread -> {
          for (int i = 0; i < 40; i++) {
            try (Lease permit = semaphore.tryAcquire(Duration.ofSeconds(60)).orElseThrow()) {
              most.accumulateAndGet(in.incrementAndGet(), Math::max);
              sections.incrementAndGet();
              permit.ensureValid();
              in.decrementAndGet();
            }
          }
        });
    assertThat(most.get()).isBetween(1, permits);
    assertThat(sections).hasValue(200);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void permitsThatAreAllTakenGiveEmptyAndAReleasedOneIsFoundAgain(int permits) {
    LeasedSemaphore semaphore = locks.asSemaphore("pool", permits, TTL);
    List<Lease> taken = new ArrayList<>();
    for (int i = 0; i < permits; i++) {
      taken.add(semaphore.tryAcquire().orElseThrow());
    }
    assertThat(semaphore.tryAcquire()).isEmpty();
    assertThat(semaphore.tryAcquire(Duration.ofMillis(1))).isEmpty();
    taken.remove(0).release();
    Optional<Lease> again = semaphore.tryAcquire();
    assertThat(again).isPresent();
    again.get().release();
    taken.forEach(Lease::release);
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 0, 101})
  void numbersOfPermitsOutOfRangeAreRefused(int permits) {
    assertThatThrownBy(() -> locks.asSemaphore("pool", permits, TTL))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("permits is " + permits + "; it must be between 1 and 100");
  }
}
