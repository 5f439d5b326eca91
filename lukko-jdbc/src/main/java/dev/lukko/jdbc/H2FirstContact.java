package dev.lukko.jdbc;

import dev.lukko.jdbc.FenceSql.Contact;
import dev.lukko.time.Ticker;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The first contact of a resource on H2.
 *
 * <p>H2 waits for another transaction's insert of the same key by trying again without a pause: a
 * core lost for the whole wait. For a row that is there it waits as it should. So rows are updated
 * first, and only if one is missing is it inserted, with no time for H2 to wait and the pauses made
 * here; altogether for as long as the connection's lock timeout says.
 */
final class H2FirstContact {
  private static final long FIRST_PAUSE_MILLIS = 1;
  private static final long LONGEST_PAUSE_MILLIS = 20;

  private final Connection connection;

  H2FirstContact(Connection connection) {
    this.connection = connection;
  }

  /** Whether all rows were there, and took the token. */
  boolean updated(String table, List<String> resources, long token, Contact contact)
      throws SQLException {
    if (contact == Contact.WRITE_ONCE && resources.size() > 1) {
      return false; // If some took it, they would refuse it the second time.
    }
    return JdbcFence.updated(connection, Dialect.H2, table, resources, token, contact);
  }

  /** Runs the step until it is not kept waiting any more. */
  boolean withPauses(JdbcFence.Step step) throws SQLException {
    LockWait wait = LockWait.set(Dialect.H2, connection, 1);
    try {
      return paused(step, TimeUnit.MILLISECONDS.toNanos(wait.previousMillis()));
    } finally {
      wait.restore();
    }
  }

  private static boolean paused(JdbcFence.Step step, long limitNanos) throws SQLException {
    long start = Ticker.system().nanoTime();
    long pauseMillis = FIRST_PAUSE_MILLIS;
    while (true) {
      try {
        return step.run();
      } catch (SQLException busy) {
        if (!SqlStates.isLockTimeout(busy)
            || Ticker.system().nanoTime() - start >= limitNanos
            || Thread.currentThread().isInterrupted()) {
          throw busy;
        }
      }
      pause(pauseMillis);
      pauseMillis = Math.min(LONGEST_PAUSE_MILLIS, 2 * pauseMillis);
    }
  }

  private static void pause(long millis) {
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(millis));
  }
}
