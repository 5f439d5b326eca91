package dev.lukko.postgres;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/**
 * Tells waiting workers of new jobs. One of the waiting threads listens for all of them, on a
 * connection that is taken at the first wait and kept; the others sleep on a condition. There is no
 * thread of its own.
 */
final class QueueSignal {
  private static final String CHANNEL = "lukko_queue";
  private static final int READ_MILLIS = 100;

  private final DataSource dataSource;
  private final String queue;
  private final long pollNanos;
  private final ReentrantLock mutex = new ReentrantLock();
  private final Condition changed = mutex.newCondition();
  private final ThreadLocal<Long> looked = ThreadLocal.withInitial(() -> 0L);
  private final ThreadLocal<Long> empty = ThreadLocal.withInitial(() -> -1L);
  private final AtomicLong heard = new AtomicLong();
  private volatile boolean closed;
  private boolean listening; // Guarded by the mutex.
  private @Nullable Connection connection; // Touched by the thread that set listening.

  QueueSignal(DataSource dataSource, String queue, Duration poll) {
    this.dataSource = dataSource;
    this.queue = queue;
    this.pollNanos = poll.toNanos();
  }

  void announce(Connection transaction) throws SQLException {
    try (PreparedStatement statement =
        transaction.prepareStatement("SELECT pg_notify('" + CHANNEL + "', ?)")) {
      statement.setString(1, queue);
      statement.execute();
    }
  }

  /** This thread looks for work now: what is heard from here on is news to it. */
  void look() {
    looked.set(heard.get());
  }

  void foundNothing() {
    empty.set(looked.get());
  }

  boolean await(long maxNanos) throws InterruptedException {
    long start = System.nanoTime();
    long limit = Math.min(maxNanos, pollNanos);
    mutex.lockInterruptibly();
    try {
      while (!closed && heard.get() == empty.get()) {
        long left = limit - (System.nanoTime() - start);
        if (left <= 0) {
          return maxNanos > pollNanos;
        }
        if (listening) {
          changed.await(left, TimeUnit.NANOSECONDS);
        } else {
          listening = true;
          mutex.unlock();
          try {
            listen(left);
          } finally {
            mutex.lock();
            listening = false;
            changed.signalAll(); // One of the others goes on listening.
          }
          if (Thread.interrupted()) {
            throw new InterruptedException();
          }
        }
      }
      return !closed;
    } finally {
      if (closed && !listening) {
        stopListening();
      }
      mutex.unlock();
    }
  }

  @SuppressWarnings("WaitNotInLoop") // A wake-up for no reason only looks for work too early.
  private void listen(long nanos) throws InterruptedException {
    try {
      Connection open = connection;
      if (open == null) {
        open = dataSource.getConnection();
        connection = open;
        open.setAutoCommit(true);
        try (Statement statement = open.createStatement()) {
          statement.execute("LISTEN " + CHANNEL);
        }
        hear(); // What was announced before this is found by looking once.
        return;
      }
      int millis = (int) Math.max(1, Math.min(READ_MILLIS, nanos / 1_000_000));
      PGNotification[] notifications = open.unwrap(PGConnection.class).getNotifications(millis);
      if (notifications != null) {
        for (PGNotification notification : notifications) {
          if (queue.equals(notification.getParameter())) {
            hear();
          }
        }
      }
    } catch (SQLException broken) {
      System.getLogger(QueueSignal.class.getName())
          .log(System.Logger.Level.DEBUG, "announcements are not heard; polling", broken);
      stopListening();
      mutex.lock();
      try {
        changed.await(nanos, TimeUnit.NANOSECONDS);
      } finally {
        mutex.unlock();
      }
    }
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

  private void stopListening() {
    Connection open = connection;
    connection = null;
    if (open != null) {
      try (Statement statement = open.createStatement()) {
        statement.execute("UNLISTEN *"); // It may go back into a pool.
      } catch (SQLException broken) {
        System.getLogger(QueueSignal.class.getName())
            .log(System.Logger.Level.DEBUG, "the listening connection was broken", broken);
      }
      PgConnector.closeQuietly(open);
    }
  }

  void close() {
    mutex.lock();
    try {
      closed = true;
      changed.signalAll();
      if (!listening) {
        stopListening(); // Otherwise the thread that listens does so when it notices.
      }
    } finally {
      mutex.unlock();
    }
  }
}
