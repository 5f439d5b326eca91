package dev.lukko.view;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lukko.LeaseReadWriteLock;
import dev.lukko.LockClient;
import dev.lukko.memory.InMemoryNode;
import dev.lukko.redlock.Redlock;
import dev.lukko.testkit.LockInvariants;
import java.time.Duration;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class ReadWriteRaceTest {
  private static final Duration TTL = Duration.ofSeconds(30);

  @RegisterExtension final LockInvariants invariants = new LockInvariants();

  private LockClient client(int nodes) {
    var builder =
        Redlock.builder().retryDelay(Duration.ofMillis(1)).retryJitter(Duration.ofMillis(2));
    for (int i = 0; i < nodes; i++) {
      builder.node(invariants.node(new InMemoryNode("n" + i)));
    }
    return invariants.client(builder.build());
  }

  @Test
  void readerAndWriterAtABarrierAreNeverInTogether() throws Exception {
    LeaseReadWriteLock lock = client(3).asReadWriteLock("r", TTL);
    CyclicBarrier barrier = new CyclicBarrier(2);
    AtomicInteger readersIn = new AtomicInteger();
    AtomicInteger writersIn = new AtomicInteger();
    AtomicInteger meetings = new AtomicInteger();
    AtomicInteger entered = new AtomicInteger();
    Threads.together(
        2,
        thread -> {
          Lock mine = thread == 0 ? lock.readLock() : lock.writeLock();
          AtomicInteger in = thread == 0 ? readersIn : writersIn;
          AtomicInteger others = thread == 0 ? writersIn : readersIn;
          for (int i = 0; i < 1_000; i++) {
            barrier.await(60, TimeUnit.SECONDS);
            mine.lock();
            in.incrementAndGet();
            meetings.addAndGet(others.get());
            entered.incrementAndGet();
            in.decrementAndGet();
            mine.unlock();
          }
        });
    assertThat(meetings).hasValue(0);
    assertThat(entered).hasValue(2_000);
  }

  @Test
  void readersAreInTogetherAndKeepTheWriterOut() throws Exception {
    LeaseReadWriteLock lock = client(1).asReadWriteLock("r", TTL);
    CyclicBarrier allIn = new CyclicBarrier(3);
    Threads.together(
        3,
        thread -> {
          lock.readLock().lock();
          allIn.await(60, TimeUnit.SECONDS);
          Threads.together(1, other -> assertThat(lock.writeLock().tryLock()).isFalse());
          allIn.await(60, TimeUnit.SECONDS);
          lock.readLock().unlock();
        });
    assertThat(lock.writeLock().tryLock()).isTrue();
    Threads.together(1, other -> assertThat(lock.readLock().tryLock()).isFalse());
    lock.writeLock().unlock();
  }

  @Test
  void threadThatWouldWaitForItselfIsRefused() {
    LeaseReadWriteLock lock = client(1).asReadWriteLock("r", TTL);
    lock.readLock().lock();
    assertThatThrownBy(() -> lock.writeLock().lock())
        .isInstanceOf(IllegalMonitorStateException.class)
        .hasMessageContaining("would wait for itself");
    lock.readLock().unlock();
  }
}
