package dev.lukko;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;

/**
 * A lock client's resource as a {@link ReadWriteLock}: many readers or one writer, never both.
 *
 * <p>Made by {@link LockClient#asReadWriteLock}. Readers and writer stand in one entry at each
 * node, so that no moment exists at which one is seen without the other. Every reading thread has a
 * lease of its own. Neither lock can be taken by a thread that holds the other: it would wait for
 * itself, so the attempt is refused with {@link IllegalMonitorStateException}. Thread-safe.
 */
public final class LeaseReadWriteLock implements ReadWriteLock {
  private final LeaseLock readers;
  private final LeaseLock writer;

  LeaseReadWriteLock(LockClient client, LockRequest shared, LockRequest exclusive) {
    this.readers = new LeaseLock(client, shared);
    this.writer = new LeaseLock(client, exclusive);
  }

  @Override
  public Lock readLock() {
    return new Side(readers, writer);
  }

  @Override
  public Lock writeLock() {
    return new Side(writer, readers);
  }

  /**
   * The lease of the current thread, a reader's or the writer's.
   *
   * @throws IllegalMonitorStateException if the current thread holds neither lock
   */
  public Lease lease() {
    return readers.isHeldByCurrentThread() ? readers.lease() : writer.lease();
  }

  /** One of the two locks, which looks at the other before it waits. */
  private record Side(LeaseLock mine, LeaseLock other) implements Lock {

    @Override
    public void lock() {
      refuseToWaitForItself();
      mine.lock();
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
      refuseToWaitForItself();
      mine.lockInterruptibly();
    }

    @Override
    public boolean tryLock() {
      refuseToWaitForItself();
      return mine.tryLock();
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
      refuseToWaitForItself();
      return mine.tryLock(time, unit);
    }

    @Override
    public void unlock() {
      mine.unlock();
    }

    @Override
    public Condition newCondition() {
      return mine.newCondition();
    }

    private void refuseToWaitForItself() {
      if (other.isHeldByCurrentThread()) {
        throw new IllegalMonitorStateException(
            "thread "
                + Thread.currentThread().getName()
                + " holds "
                + other
                + " and would wait for itself; unlock it first");
      }
    }
  }
}
