package dev.lukko;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/**
 * A lock client's resource as a {@link Lock} of the Java library: re-entrant, owned by a thread.
 *
 * <p>Made by {@link LockClient#asLock}. Keep the object, as one keeps a {@code ReentrantLock}:
 * re-entrance is known to the object, not to the name. The first {@code lock} of a thread acquires
 * a lease that is extended in the background, the matching {@code unlock} releases it; between them
 * the thread may lock and unlock as often as it likes. A thread that ends without unlocking leaves
 * a lease that is no longer extended once it has been collected.
 *
 * <p>Unlike a local lock this one can be lost. {@link #lease()} tells, and has the fencing token. A
 * nested {@code lock}, and {@code unlock}, throw {@link LeaseLostException} when it was.
 *
 * <p>Thread-safe; a call that waits pins no carrier of a virtual thread.
 */
public final class LeaseLock implements Lock {
  private final LockClient client;
  private final LockRequest request;

  /** One for each lock object: what a thread holds of this one, and gone when the thread is. */
  @SuppressWarnings("ThreadLocalUsage")
  private final ThreadLocal<@Nullable Held> held = new ThreadLocal<>();

  LeaseLock(LockClient client, LockRequest request) {
    this.client = client;
    this.request = request;
  }

  /**
   * The lease of the current thread.
   *
   * @throws IllegalMonitorStateException if the current thread does not hold this lock
   */
  public Lease lease() {
    return required().lease;
  }

  /** Whether the current thread has locked this, and not yet unlocked it as often. */
  public boolean isHeldByCurrentThread() {
    return held.get() != null;
  }

  /**
   * Waits without end until the lock is acquired; an interrupt does not end the wait, its flag is
   * kept.
   *
   * @throws QuorumUnavailableException if no quorum of nodes can be reached
   * @throws LeaseLostException if this thread holds the lock already and has lost its lease
   */
  @Override
  public void lock() {
    if (reentered()) {
      return;
    }
    boolean interrupted = false;
    try {
      while (true) {
        try {
          take(client.acquire(request.withWait(LockRequest.FOREVER)));
          return;
        } catch (LockInterruptedException interrupt) {
          interrupted |= Thread.interrupted();
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** {@link #lock}, but ended by an interrupt. */
  @Override
  public void lockInterruptibly() throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    if (!reentered()) {
      tryWithin(LockRequest.FOREVER);
    }
  }

  /** One round; returns at once, bounded by the node timeout. */
  @Override
  public boolean tryLock() {
    if (reentered()) {
      return true;
    }
    return client.tryAcquire(request.withWait(Duration.ZERO)).map(this::take).isPresent();
  }

  /** Waits at most the given time, and at most one node timeout more; zero or less is one round. */
  @Override
  public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    return reentered() || tryWithin(Duration.ofNanos(Math.max(0, unit.toNanos(time))));
  }

  private boolean tryWithin(Duration budget) throws InterruptedException {
    try {
      return client.tryAcquire(request.withWait(budget)).map(this::take).isPresent();
    } catch (LockInterruptedException interrupt) {
      Thread.interrupted(); // The exception says it from here on, as the interface asks.
      InterruptedException checked = new InterruptedException(interrupt.getMessage());
      checked.initCause(interrupt);
      throw checked;
    }
  }

  /**
   * Unlocks once; the last of as many as there were locks releases the lease.
   *
   * @throws IllegalMonitorStateException if the current thread does not hold this lock
   * @throws LeaseLostException if the lease was lost before it was released; the lock is unlocked
   */
  @Override
  public void unlock() {
    Held mine = required();
    mine.count--;
    if (mine.count == 0) {
      held.remove();
      mine.lease.close();
    }
  }

  /**
   * Not supported: a condition would have to wait at the nodes.
   *
   * @throws UnsupportedOperationException always
   */
  @Override
  public Condition newCondition() {
    throw new UnsupportedOperationException(
        "a distributed lock has no conditions; wait for the state itself, in its own store");
  }

  private boolean reentered() {
    Held mine = held.get();
    if (mine == null) {
      return false;
    }
    mine.lease.ensureValid();
    mine.count++;
    return true;
  }

  private Held take(Lease lease) {
    Held mine = new Held(lease);
    held.set(mine);
    return mine;
  }

  private Held required() {
    Held mine = held.get();
    if (mine == null) {
      throw new IllegalMonitorStateException(
          "thread "
              + Thread.currentThread().getName()
              + " does not hold lock "
              + request.resources());
    }
    return mine;
  }

  @Override
  public String toString() {
    return "LeaseLock" + request.resources() + (request.shared() ? " (shared)" : "");
  }

  private static final class Held {
    final Lease lease;
    int count = 1;

    Held(Lease lease) {
      this.lease = lease;
    }
  }
}
