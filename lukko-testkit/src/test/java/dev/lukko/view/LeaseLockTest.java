package dev.lukko.view;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lukko.Lease;
import dev.lukko.LeaseLock;
import dev.lukko.LeaseLostException;
import dev.lukko.LockClient;
import dev.lukko.memory.InMemoryNode;
import dev.lukko.redlock.Redlock;
import dev.lukko.testkit.FaultyNode;
import dev.lukko.testkit.LockInvariants;
import dev.lukko.testkit.ManualTime;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class LeaseLockTest {
  private static final Duration TTL = Duration.ofSeconds(3);

  @RegisterExtension final LockInvariants invariants = new LockInvariants();
  private final ManualTime time = invariants.time(new ManualTime());
  private final FaultyNode node = invariants.node(new InMemoryNode("n1", time));
  private final LockClient locks =
      invariants.client(Redlock.builder().node(node).ticker(time).scheduler(time).build());
  private final LeaseLock lock = locks.asLock("r", TTL);

  @Test
  void threeLocksAndThreeUnlocksLeaveNoRenewal() {
    lock.lock();
    lock.lock();
    assertThat(lock.tryLock()).isTrue();
    long token = lock.lease().fencingToken();
    lock.unlock();
    lock.unlock();
    time.advance(TTL.multipliedBy(3));
    assertThat(lock.lease().isValid()).isTrue();
    assertThat(lock.lease().fencingToken()).isEqualTo(token);
    lock.unlock();
    int requests = node.requests();
    time.advance(TTL.multipliedBy(3));
    assertThat(node.requests()).isEqualTo(requests);
    assertThat(time.pending()).isZero();
    assertThat(lock.isHeldByCurrentThread()).isFalse();
  }

  @Test
  void anotherThreadCanNeitherLockNorUnlock() throws Exception {
    lock.lock();
    Threads.together(
        1,
        thread -> {
          assertThat(lock.tryLock()).isFalse();
          assertThatThrownBy(lock::unlock)
              .isInstanceOf(IllegalMonitorStateException.class)
              .hasMessageContaining("does not hold lock [r]");
          assertThatThrownBy(lock::lease).isInstanceOf(IllegalMonitorStateException.class);
        });
    lock.unlock();
    assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
  }

  @Test
  void lostLeaseIsToldByTheNestedLockAndByTheUnlock() {
    lock.lock();
    node.fault(FaultyNode.Fault.DOWN);
    time.advance(TTL);
    node.fault(FaultyNode.Fault.NONE);
    assertThatThrownBy(lock::lock).isInstanceOf(LeaseLostException.class);
    assertThatThrownBy(lock::unlock).isInstanceOf(LeaseLostException.class);
    lock.lock();
    assertThat(lock.lease().isValid()).isTrue();
    lock.unlock();
  }

  @Test
  void interruptEndsTheInterruptibleWaitsAndOnlyThose() throws Exception {
    Lease other = locks.acquire("r", TTL);
    Threads.together(
        1,
        thread -> {
          Thread.currentThread().interrupt();
          assertThatThrownBy(lock::lockInterruptibly).isInstanceOf(InterruptedException.class);
          assertThat(Thread.interrupted()).isFalse();
          Thread.currentThread().interrupt();
          assertThatThrownBy(() -> lock.tryLock(1, TimeUnit.DAYS))
              .isInstanceOf(InterruptedException.class);
        });
    AtomicReference<Boolean> flag = new AtomicReference<>();
    CountDownLatch locked = new CountDownLatch(1);
    Thread waiter =
        new Thread(
            () -> {
              lock.lock();
              flag.set(Thread.currentThread().isInterrupted());
              lock.unlock();
              locked.countDown();
            });
    waiter.start();
    waiter.interrupt();
    other.release();
    while (!locked.await(1, TimeUnit.MILLISECONDS)) {
      time.advance(Duration.ofMillis(100));
    }
    assertThat(flag.get()).isTrue();
    waiter.join();
  }

  @Test
  void conditionsAreRefusedWithTheReason() {
    assertThatThrownBy(lock::newCondition)
        .isInstanceOf(UnsupportedOperationException.class)
        .hasMessageContaining("no conditions");
  }
}
