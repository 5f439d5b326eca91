package dev.lukko.postgres;

import dev.lukko.time.Scheduler;
import dev.lukko.time.Ticker;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import javax.sql.DataSource;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/**
 * Wakes waiting workers for new jobs. A callback thread listens for all of them, on a connection
 * that is taken at the first wait and given back when nobody has waited for a while. The workers
 * wait for nothing but a condition: when the network is silent, or there is no connection to be
 * had, they poll.
 *
 * <p>To listen is a state of the server session. Behind a pooler, which may give the session to
 * others, nobody listens, and the workers poll.
 */
final class QueueSignal {
  /** The channel on which jobs are announced; the payload is the queue. */
  static final String CHANNEL = "lukko_queue";

  private static final String LISTEN = "LISTEN " + CHANNEL;
  private static final System.Logger LOG = System.getLogger(QueueSignal.class.getName());
  private static final int READ_MILLIS = 100;
  private static final int QUIET_READS_PER_PROBE = 20;
  private static final int PROBE_MILLIS = 2_000;
  private static final long IDLE_NANOS = TimeUnit.MINUTES.toNanos(1);
  private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long CLOSE_NANOS = TimeUnit.SECONDS.toNanos(6);

  private final DataSource dataSource;
  private final String queue;
  private final long pollNanos;
  private final Scheduler scheduler;
  private final ReentrantLock mutex = new ReentrantLock();
  private final Condition changed = mutex.newCondition();
  private final ThreadLocal<Long> looked = ThreadLocal.withInitial(() -> 0L);
  private final ThreadLocal<Long> empty = ThreadLocal.withInitial(() -> -1L);
  private final AtomicLong heard = new AtomicLong();
  private volatile boolean closed; // These four are written under the mutex.
  private boolean running;
  private boolean pooled;
  private long lastWaitAt;

  QueueSignal(DataSource dataSource, String queue, Duration poll, Scheduler scheduler) {
    this.dataSource = dataSource;
    this.queue = queue;
    this.pollNanos = poll.toNanos();
    this.scheduler = scheduler;
  }

  /** This thread looks for work now: what is heard from here on is news to it. */
  void look() {
    looked.set(heard.get());
  }

  void foundNothing() {
    empty.set(looked.get());
  }

  boolean await(long maxNanos) throws InterruptedException {
    long start = Ticker.system().nanoTime();
    long limit = Math.min(maxNanos, pollNanos);
    mutex.lockInterruptibly();
    try {
      while (!closed && heard.get() == empty.get()) {
        long left = limit - (Ticker.system().nanoTime() - start);
        if (left <= 0) {
          return maxNanos > pollNanos;
        }
        ensureListening();
        changed.await(left, TimeUnit.NANOSECONDS);
      }
      return !closed;
    } finally {
      mutex.unlock();
    }
  }

  /** The caller has the mutex. */
  private void ensureListening() {
    lastWaitAt = Ticker.system().nanoTime();
    if (!running && !pooled) {
      running = true;
      scheduler.execute(this::run);
    }
  }

  private void run() {
    try {
      while (isWanted()) {
        try {
          listenOnAConnection();
        } catch (SQLException | RuntimeException broken) {
          LOG.log(System.Logger.Level.DEBUG, "announcements are not heard; polling", broken);
          pause();
        }
      }
    } finally {
      mutex.lock();
      try {
        running = false;
        changed.signalAll();
      } finally {
        mutex.unlock();
      }
    }
  }

  private boolean isWanted() {
    mutex.lock();
    try {
      return !closed && !pooled && Ticker.system().nanoTime() - lastWaitAt < IDLE_NANOS;
    } finally {
      mutex.unlock();
    }
  }

  private void pause() {
    mutex.lock();
    try {
      long end = Ticker.system().nanoTime() + RETRY_NANOS;
      for (long left = RETRY_NANOS; left > 0 && !closed; left = end - Ticker.system().nanoTime()) {
        changed.await(left, TimeUnit.NANOSECONDS);
      }
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
    } finally {
      mutex.unlock();
    }
  }

  private void listenOnAConnection() throws SQLException {
    BorrowedConnection borrowed =
        BorrowedConnection.from(dataSource, "Give the queue the DataSource behind the proxy.");
    try {
      if (isPooled(borrowed)) {
        mutex.lock();
        try {
          pooled = true;
        } finally {
          mutex.unlock();
        }
        LOG.log(
            System.Logger.Level.INFO,
            "a pooler between here and the server may give its sessions to others; jobs are not"
                + " announced but found by polling");
        return;
      }
      if (!isWanted()) {
        return;
      }
      try {
        borrowed.within(PROBE_MILLIS, this::listen);
      } finally {
        borrowed.cleanUp(QueueSignal::unlisten);
      }
    } finally {
      borrowed.giveBack();
    }
  }

  /** Whether the announced server process is not the one that works: see {@link PoolerCheck}. */
  private static boolean isPooled(BorrowedConnection borrowed) throws SQLException {
    return borrowed.within(
        PROBE_MILLIS,
        connection -> {
          int announced = connection.unwrap(PGConnection.class).getBackendPID();
          connection.setAutoCommit(true); // To listen is to have no transaction open.
          return PoolerCheck.backend(connection) != announced;
        });
  }

  private boolean listen(Connection connection) throws SQLException {
    BorrowedConnection.execute(connection, LISTEN);
    hear(); // What was announced before this is found by looking once.
    PGConnection notified = connection.unwrap(PGConnection.class);
    int quiet = 0;
    while (isWanted()) {
      PGNotification[] notifications = notified.getNotifications(READ_MILLIS);
      if (notifications != null && notifications.length > 0) {
        quiet = 0;
        for (PGNotification notification : notifications) {
          if (queue.equals(notification.getParameter())) {
            hear();
          }
        }
      } else if (++quiet % QUIET_READS_PER_PROBE == 0) {
        BorrowedConnection.execute(connection, LISTEN); // Or is the other side gone?
      }
    }
    return true;
  }

  private static boolean unlisten(Connection connection) throws SQLException {
    if (!connection.isClosed()) {
      BorrowedConnection.execute(connection, "UNLISTEN *"); // It may go back into a pool.
    }
    return true;
  }

  private void hear() {
    mutex.lock();
    try {
      heard.incrementAndGet();
      changed.signalAll();
    } finally {
      mutex.unlock();
    }
  }

  /** Ends all waits, and waits for a while until the connection is given back. */
  void close() {
    mutex.lock();
    try {
      closed = true;
      changed.signalAll();
      long end = Ticker.system().nanoTime() + CLOSE_NANOS;
      for (long left = CLOSE_NANOS; running && left > 0; left = end - Ticker.system().nanoTime()) {
        changed.await(left, TimeUnit.NANOSECONDS);
      }
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
    } finally {
      mutex.unlock();
    }
  }
}
