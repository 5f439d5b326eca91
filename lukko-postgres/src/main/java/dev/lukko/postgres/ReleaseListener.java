package dev.lukko.postgres;

import dev.lukko.time.Scheduler;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/**
 * Hears the releases of other sessions, on a connection of its own that exists only while somebody
 * waits, and a while longer. Between two notifications it sits in a read on the socket, with no
 * statement, transaction or snapshot open. When it fails, the waiters' polls go on.
 */
final class ReleaseListener {
  private static final System.Logger LOG = System.getLogger(ReleaseListener.class.getName());
  private static final int READ_MILLIS = 1_000;
  private static final int QUIET_READS_PER_PROBE = 5;
  private static final int IDLE_READS = 30;

  private final PgConnector connector;
  private final Scheduler scheduler;
  private final Waiters waiters;
  private boolean running; // These three are guarded by this object's monitor.
  private boolean closed;
  private @Nullable Connection connection;

  ReleaseListener(PgConnector connector, Scheduler scheduler, Waiters waiters) {
    this.connector = connector;
    this.scheduler = scheduler;
    this.waiters = waiters;
  }

  void ensureRunning() {
    synchronized (this) {
      if (running || closed) {
        return;
      }
      running = true;
    }
    scheduler.execute(this::run);
  }

  private void run() {
    try (Connection opened = connector.open()) {
      synchronized (this) {
        if (closed) {
          return;
        }
        connection = opened;
      }
      listen(opened);
    } catch (SQLException | RuntimeException failure) {
      LOG.log(System.Logger.Level.DEBUG, "releases are not heard; waiters poll instead", failure);
    } finally {
      synchronized (this) {
        running = false;
        connection = null;
      }
    }
  }

  private void listen(Connection opened) throws SQLException {
    try (Statement statement = opened.createStatement()) {
      statement.execute("LISTEN " + AdvisorySql.CHANNEL);
    }
    PGConnection notified = opened.unwrap(PGConnection.class);
    int idle = 0;
    int quiet = 0;
    while (!isClosed() && idle < IDLE_READS) {
      PGNotification[] heard = notified.getNotifications(READ_MILLIS);
      idle = waiters.isEmpty() ? idle + 1 : 0;
      if (heard != null && heard.length > 0) {
        quiet = 0;
        for (PGNotification release : heard) {
          wake(release.getParameter());
        }
      } else if (++quiet % QUIET_READS_PER_PROBE == 0) {
        probe(opened);
      }
    }
  }

  private void wake(String lock) {
    try {
      waiters.wake(Long.parseLong(lock));
    } catch (NumberFormatException foreign) {
      LOG.log(System.Logger.Level.DEBUG, "a foreign notification: {0}", lock);
    }
  }

  private static void probe(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet alive = statement.executeQuery("SELECT 1")) {
      alive.next();
    }
  }

  private synchronized boolean isClosed() {
    return closed;
  }

  void close() {
    Connection open;
    synchronized (this) {
      closed = true;
      open = connection;
    }
    if (open != null) {
      try {
        open.abort(Runnable::run);
      } catch (SQLException broken) {
        LOG.log(System.Logger.Level.DEBUG, "the listening connection was broken", broken);
      }
    }
  }
}
