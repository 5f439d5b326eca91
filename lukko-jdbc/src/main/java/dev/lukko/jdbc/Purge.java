package dev.lukko.jdbc;

import dev.lukko.jdbc.NamedSql.Values;
import dev.lukko.spi.NodeFault;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Deletes rows after the counter retention. It walks along the primary key, a bounded number of
 * rows per step: an index on the expiry would make every grant dearer.
 */
final class Purge {
  private static final System.Logger LOG = System.getLogger(Purge.class.getName());
  private static final int ROWS_PER_STEP = 500;
  private static final int GRANTS_PER_STEP = 250;

  private static final String STEP_END =
      "SELECT name FROM lukko_lock WHERE name > :name ORDER BY name LIMIT 1 OFFSET "
          + (ROWS_PER_STEP - 1);
  private static final String OLD = " AND expires_at <= {now} - :ttl";
  private static final String STEP = "name > :name AND name <= :owner" + OLD;
  private static final String LAST_STEP = "name > :name" + OLD;
  // A counter that a client's clock has put ahead of the database's would be followed by lower
  // ones.
  private static final String DELETE =
      "DELETE FROM lukko_lock WHERE shared_until <= {now} AND ({number counter} AND counter <= {now} - :ttl) AND ";
  private static final String DELETE_SHARED = "DELETE FROM lukko_shared WHERE ";

  private final Dispatcher dispatcher;
  private final long retentionMicros;
  private final AtomicInteger grants = new AtomicInteger();
  private final AtomicBoolean stepping = new AtomicBoolean();
  private volatile String position = "";

  Purge(Dispatcher dispatcher, long retentionMillis) {
    this.dispatcher = dispatcher;
    this.retentionMicros = retentionMillis * 1_000L;
  }

  /**
   * One step.
   *
   * @param end the last name that was looked at; null at the end of the table
   */
  private record Step(long deleted, @Nullable String end) {}

  /** Called with each grant; makes a step now and then, in the background. */
  void sometimes() {
    if (grants.incrementAndGet() % GRANTS_PER_STEP != 0 || !stepping.compareAndSet(false, true)) {
      return;
    }
    step(position)
        .whenComplete(
            (step, failure) -> {
              if (failure != null) {
                LOG.log(System.Logger.Level.DEBUG, "old counters were not deleted", failure);
              } else {
                String end = step.end();
                position = end == null ? "" : end;
              }
              stepping.set(false);
            });
  }

  /** Walks along the whole table. */
  CompletionStage<Long> all() {
    CompletableFuture<Long> total = new CompletableFuture<>();
    walk("", 0, total);
    return total;
  }

  private void walk(String from, long before, CompletableFuture<Long> total) {
    step(from)
        .whenComplete(
            (step, failure) -> {
              if (failure != null) {
                total.completeExceptionally(failure);
                return;
              }
              long deleted = before + step.deleted();
              String end = step.end();
              if (end == null) {
                total.complete(deleted);
              } else {
                walk(end, deleted, total);
              }
            });
  }

  private CompletableFuture<Step> step(String from) {
    Request<Step> request =
        new Request<>(
            "purge", null, session -> deleted(session, from), Purge::failed, dispatcher.deadline());
    dispatcher.submit(request);
    return request.reply();
  }

  private static Step failed(NodeFault fault) {
    throw new CompletionException(new SQLException(fault.detail(), fault.cause()));
  }

  private Step deleted(Session session, String from) throws SQLException {
    Values start = new Values(List.of(from), "", retentionMicros, 0);
    String end = stepEnd(session, start);
    String which = end == null ? LAST_STEP : STEP;
    Values values = new Values(List.of(from), end == null ? "" : end, retentionMicros, 0);
    session.statements().get(DELETE_SHARED + which).update(session, values);
    int rows = session.statements().get(DELETE + which).update(session, values);
    return new Step(rows, end);
  }

  private static @Nullable String stepEnd(Session session, Values start) throws SQLException {
    PreparedStatement statement = session.statements().get(STEP_END).bind(session, start);
    try (ResultSet rows = statement.executeQuery()) {
      return rows.next() ? session.traits().getText(rows, 1) : null;
    }
  }
}
