package dev.lukko.postgres;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The rows by which the transaction of a worker that died is told from all others that were rolled
 * back.
 *
 * <p>Each open claim has a witness: a row of its own, which its transaction locks together with
 * rows of the queue. When the worker dies, the number of that transaction stays in the header of
 * the witness as it does in those of the rows; a row lock that somebody took by hand, or an update
 * of an application that failed, has no witness. A claim that ends with a word gives its witness
 * back, and the next claim's lock overwrites the number in it. A witness of the dead is kept for a
 * week. Thread-safe.
 */
final class Witnesses {
  private final String add;
  private final String remove;
  private final Deque<Long> free = new ArrayDeque<>(); // Guarded by this.

  Witnesses(String table) {
    // A living claim whose witness was swept away notices that, and adds another.
    String sweep =
        "WITH old AS (SELECT id FROM "
            + table
            + " WHERE created_at < clock_timestamp() - interval '7 days' LIMIT 100"
            + " FOR UPDATE SKIP LOCKED), swept AS (DELETE FROM "
            + table
            + " w USING old WHERE w.id = old.id) ";
    add = QueueCalls.alone(sweep + "INSERT INTO " + table + " DEFAULT VALUES RETURNING id");
    remove = QueueCalls.alone("DELETE FROM " + table + " WHERE id = ANY (?)");
  }

  /** A witness that no open claim has; the connection has no transaction open. */
  long take(Connection connection) throws SQLException {
    synchronized (this) {
      Long waiting = free.poll();
      if (waiting != null) {
        return waiting;
      }
    }
    return add(connection);
  }

  /** A new witness. */
  long add(Connection connection) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(add);
        ResultSet row = QueueCalls.rows(statement)) {
      row.next();
      return row.getLong(1);
    }
  }

  /** Takes a witness back from a claim whose end was no crash. */
  synchronized void giveBack(long witness) {
    free.push(witness);
  }

  synchronized boolean isEmpty() {
    return free.isEmpty();
  }

  /** Removes those that no open claim has. */
  void removeFree(Connection connection) throws SQLException {
    Long[] ids;
    synchronized (this) {
      ids = free.toArray(Long[]::new);
      free.clear();
    }
    try (PreparedStatement statement = connection.prepareStatement(remove)) {
      statement.setArray(1, connection.createArrayOf("bigint", ids));
      statement.execute();
    }
  }
}
