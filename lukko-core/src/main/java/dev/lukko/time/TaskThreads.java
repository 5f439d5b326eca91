package dev.lukko.time;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Threads for tasks that may block: a bounded number of platform threads, virtual ones beyond that
 * where the JDK has them, and one queue, from which no task is ever dropped.
 *
 * <p>Platform threads come first, since they do not depend on carriers that another part of the
 * program may keep busy. A task waits in the queue until a thread that runs takes it, so that it is
 * not lost with a thread that the JVM refuses; if there is none at all, a timer asks for one again.
 * One thread, once made, stays until {@link #close}: what it runs later needs no permission of the
 * JVM's. A task that is given after the end is run as well.
 */
final class TaskThreads implements Executor {
  private static final System.Logger LOG = System.getLogger(TaskThreads.class.getName());
  private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition given = lock.newCondition();
  private final Queue<Runnable> queue = new ArrayDeque<>();
  private final ThreadFactory platform;
  private final @Nullable ThreadFactory virtual;
  private final int most;
  private final ClassLoader loader = Thread.currentThread().getContextClassLoader();
  private final TimerThread timer;
  private int threads;
  private int idle;
  private boolean retrying;
  private volatile boolean refused;
  private boolean closed;

  /**
   * Threads that do not run yet.
   *
   * @param most how many platform threads there may be
   * @param virtual what makes the threads beyond those; null for none
   * @param timer what asks again for a thread that was refused
   */
  TaskThreads(
      ThreadFactory platform, @Nullable ThreadFactory virtual, int most, TimerThread timer) {
    this.platform = platform;
    this.virtual = virtual;
    this.most = most;
    this.timer = timer;
  }

  @Override
  public void execute(Runnable task) {
    boolean more;
    lock.lock();
    try {
      queue.add(task);
      if (idle >= queue.size()) {
        given.signal();
        return;
      }
      more = threads < most;
      threads += more ? 1 : 0;
    } finally {
      lock.unlock();
    }
    boolean started = more && startPlatform();
    if (!started && !startVirtual() && more) {
      askAgain();
    }
  }

  /** Ends the threads when the queue is empty. */
  void close() {
    boolean deserted;
    lock.lock();
    try {
      closed = true;
      given.signalAll();
      deserted = threads == 0 && !queue.isEmpty();
      threads += deserted ? 1 : 0;
    } finally {
      lock.unlock();
    }
    if (deserted && !startPlatform()) {
      runAllHere();
    }
  }

  private boolean startPlatform() {
    if (start(platform, this::work)) {
      return true;
    }
    lock.lock();
    try {
      threads--;
    } finally {
      lock.unlock();
    }
    return false;
  }

  private boolean startVirtual() {
    return virtual != null && start(virtual, this::runOne);
  }

  private boolean start(ThreadFactory factory, Runnable work) {
    Throwable cause = null;
    try {
      Thread thread = factory.newThread(work);
      if (thread != null) {
        thread.start();
        refused = false;
        return true;
      }
    } catch (Throwable limit) { // An OutOfMemoryError, for example.
      cause = limit;
    }
    if (!refused) { // Said once, until there are threads again.
      refused = true;
      Throwable failure = cause == null ? new RejectedExecutionException("no thread") : cause;
      Tasks.log(LOG, System.Logger.Level.WARNING, "the JVM refuses a thread", failure);
    }
    return false;
  }

  /** No thread could be had: those that run may be busy for ever, so more are tried for. */
  private void askAgain() {
    boolean deserted;
    lock.lock();
    try {
      if (retrying || queue.isEmpty()) {
        return;
      }
      deserted = closed && threads == 0; // There is no timer any more.
      retrying = !deserted;
    } finally {
      lock.unlock();
    }
    if (deserted) {
      runAllHere();
      return;
    }
    try {
      timer.schedule(this::retry, RETRY_NANOS);
    } catch (Throwable none) {
      Tasks.log(LOG, System.Logger.Level.ERROR, "the JVM refuses every thread", none);
      runAllHere();
    }
  }

  /** The last resort: late, or in the wrong thread, is better than never. */
  private void runAllHere() {
    Runnable task;
    do {
      lock.lock();
      try {
        retrying = false;
        task = queue.poll();
      } finally {
        lock.unlock();
      }
      if (task != null) {
        Tasks.run(task, LOG);
      }
    } while (task != null);
  }

  private void retry() {
    boolean more;
    lock.lock();
    try {
      retrying = false;
      more = !queue.isEmpty() && threads < most;
      threads += more ? 1 : 0;
    } finally {
      lock.unlock();
    }
    if (more && !startPlatform()) {
      askAgain();
    }
  }

  private void work() {
    boolean open = true;
    while (open) {
      try {
        Runnable task = awaitTask();
        open = task != null;
        if (task != null) {
          run(task);
        }
      } catch (Throwable failure) { // Waiting needs memory, too.
        Tasks.log(LOG, System.Logger.Level.ERROR, "a thread of Lukko failed and goes on", failure);
      }
    }
  }

  private void runOne() {
    Runnable task;
    lock.lock();
    try {
      task = queue.poll();
    } finally {
      lock.unlock();
    }
    if (task != null) {
      run(task);
    }
  }

  private void run(Runnable task) {
    clean();
    Tasks.run(task, LOG);
    clean();
  }

  /** A task finds, and leaves, neither an interrupt nor a class loader of another's. */
  private void clean() {
    Thread thread = Thread.currentThread();
    boolean interrupted = Thread.interrupted();
    if (interrupted || thread.getContextClassLoader() != loader) {
      thread.setContextClassLoader(loader);
    }
  }

  private @Nullable Runnable awaitTask() {
    lock.lock();
    try {
      long left = IDLE_NANOS;
      while (queue.isEmpty()) {
        if (closed || (left <= 0 && threads > 1)) {
          threads--;
          return null;
        }
        left = sleep(left);
      }
      return queue.poll();
    } finally {
      lock.unlock();
    }
  }

  @SuppressWarnings("WaitNotInLoop") // The loop is the caller's.
  private long sleep(long nanos) {
    idle++;
    try {
      if (threads == 1) {
        given.await();
        return nanos;
      }
      return given.awaitNanos(Math.max(1, nanos));
    } catch (InterruptedException notOurs) {
      return nanos; // Left behind by a task; closing is what ends these threads.
    } finally {
      idle--;
    }
  }
}
