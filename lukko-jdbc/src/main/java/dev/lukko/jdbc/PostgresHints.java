package dev.lukko.jdbc;

import dev.lukko.spi.LockNode;
import dev.lukko.time.DaemonThreads;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/**
 * Hints by LISTEN and NOTIFY: one connection and one thread for all resources of a node, from the
 * first watch on. Lost hints cost time, never safety; after each connect everybody gets one, since
 * nobody knows what was missed.
 */
final class PostgresHints {
  /** The channel of all lock nodes in a database; the payload is the resource. */
  static final String CHANNEL = "lukko_lock";

  private static final System.Logger LOG = System.getLogger(PostgresHints.class.getName());
  private static final int POLL_MILLIS = 5_000;
  private static final long MIN_PAUSE_MILLIS = 100;
  private static final long MAX_PAUSE_MILLIS = 5_000;

  private final Sessions sessions;
  private final DaemonThreads threads;
  private final ConcurrentMap<String, List<Watcher>> watchers = new ConcurrentHashMap<>();
  private final CountDownLatch stop = new CountDownLatch(1);
  private @Nullable Thread thread;
  private volatile @Nullable Session session;

  /** One registration: two of the same hint are two, and each is closed by itself. */
  private static final class Watcher {
    private final Runnable hint;

    Watcher(Runnable hint) {
      this.hint = hint;
    }
  }

  PostgresHints(Sessions sessions, String threadName) {
    this.sessions = sessions;
    this.threads = new DaemonThreads(threadName);
  }

  LockNode.Watch watch(String resource, Runnable hint) {
    Watcher own = new Watcher(hint);
    watchers.compute(
        resource,
        (name, before) -> {
          List<Watcher> hints = before == null ? new CopyOnWriteArrayList<>() : before;
          hints.add(own);
          return hints;
        });
    startOnce();
    if (isListening()) {
      hint.run(); // The registration is in force: whoever was released before it is found now.
    }
    return () ->
        watchers.computeIfPresent(
            resource,
            (name, hints) -> {
              hints.remove(own);
              return hints.isEmpty() ? null : hints;
            });
  }

  /** Whether the connection for hints stands. */
  boolean isListening() {
    return session != null;
  }

  private synchronized void startOnce() {
    if (thread == null && stop.getCount() > 0) {
      thread = threads.newThread(this::listen);
      thread.start();
    }
  }

  private void listen() {
    long pause = MIN_PAUSE_MILLIS;
    while (stop.getCount() > 0) {
      Session open = null;
      try {
        open = sessions.dedicated();
        if (open.isShared()) {
          LOG.log(
              System.Logger.Level.INFO,
              "no hints about releases behind a pooler: LISTEN would stay on its session");
          return;
        }
        PGConnection connection = open.connection().unwrap(PGConnection.class);
        DialectTraits.execute(open.connection(), "LISTEN " + CHANNEL);
        session = open;
        pause = MIN_PAUSE_MILLIS;
        watchers.values().forEach(PostgresHints::fire);
        while (stop.getCount() > 0) {
          receive(open, connection);
        }
      } catch (SQLException | RuntimeException failure) {
        if (stop.getCount() > 0) {
          LOG.log(
              System.Logger.Level.DEBUG,
              "no hints about releases for a while: " + Attempts.describe(failure));
        }
      } finally {
        session = null;
        if (open != null) {
          if (!open.isShared()) {
            open.markBroken(); // It listens: no pool may hand it on.
            open.abort();
          }
          open.close();
        }
      }
      if (stopped(pause)) {
        return;
      }
      pause = Math.min(MAX_PAUSE_MILLIS, pause * 2);
    }
  }

  private void receive(Session open, PGConnection connection) throws SQLException {
    PGNotification[] received = connection.getNotifications(POLL_MILLIS);
    if (received == null || received.length == 0) {
      DialectTraits.number(open.connection(), "SELECT 1"); // Is anybody there?
      return;
    }
    for (PGNotification one : received) {
      List<Watcher> hints = watchers.get(one.getParameter());
      if (hints != null) {
        fire(hints);
      }
    }
  }

  private static void fire(List<Watcher> hints) {
    for (Watcher watcher : hints) {
      try {
        watcher.hint.run();
      } catch (RuntimeException failure) {
        LOG.log(System.Logger.Level.ERROR, "a hint about a release failed", failure);
      }
    }
  }

  private boolean stopped(long pauseMillis) {
    try {
      return stop.await(pauseMillis, TimeUnit.MILLISECONDS);
    } catch (InterruptedException interrupted) {
      return true;
    }
  }

  /** Ends the thread and its connection; waits for it no longer than this. */
  void close(long graceMillis) {
    stop.countDown();
    watchers.clear();
    Session open = session;
    if (open != null) {
      open.abort();
    }
    Thread running;
    synchronized (this) {
      running = thread;
    }
    if (running != null) {
      running.interrupt();
      try {
        running.join(graceMillis);
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
