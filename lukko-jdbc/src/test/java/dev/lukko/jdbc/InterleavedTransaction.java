package dev.lukko.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.fencing.StaleTokenException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * One transaction of an interleaving: its steps run one by one on a thread and a connection of its
 * own, so that one can wait for a lock while the other goes on.
 */
final class InterleavedTransaction implements AutoCloseable {

  @FunctionalInterface
  interface Step {
    void run(Connection connection) throws SQLException;
  }

  /** How the transaction ended. */
  enum Outcome {
    RUNNING,
    COMMITTED,
    /** By the fence. */
    REFUSED,
    /** By the database, for the sake of the other transaction: to be run again. */
    CONFLICT
  }

  private final ExecutorService executor = Executors.newSingleThreadExecutor(this::newThread);
  private volatile Thread thread;
  private final Connection connection;
  private final LockWaits waits;
  private final long sessionId;
  private List<Step> steps = List.of();
  private int next;
  private Future<?> inFlight;
  private Outcome outcome = Outcome.RUNNING;
  private StaleTokenException refusal;

  InterleavedTransaction(Connection connection, int isolation, LockWaits waits)
      throws SQLException {
    this.connection = connection;
    this.waits = waits;
    this.sessionId = waits.sessionId(connection);
    connection.setTransactionIsolation(isolation);
    connection.setAutoCommit(false);
  }

  /** Begins anew; the last step is the commit. */
  void begin(List<Step> newSteps) {
    assertThat(inFlight).isNull();
    steps = newSteps;
    next = 0;
    outcome = Outcome.RUNNING;
    refusal = null;
  }

  boolean isRunning() {
    return outcome == Outcome.RUNNING;
  }

  boolean isBlocked() {
    return inFlight != null;
  }

  Outcome outcome() {
    return outcome;
  }

  StaleTokenException refusal() {
    return refusal;
  }

  /** Starts the next step, and waits until it has ended or waits for a lock. */
  void step() {
    Step step = steps.get(next++);
    inFlight =
        executor.submit(
            () -> {
              step.run(connection);
              return null;
            });
    settle();
  }

  /** Waits until the step in flight, if any, has ended or waits for a lock. */
  void settle() {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (inFlight != null) {
      if (inFlight.isDone()) {
        end();
      } else if (waits.isWaiting(sessionId, thread)) {
        return;
      } else {
        assertThat(System.nanoTime()).as("step %d hangs", next).isLessThan(deadline);
        Thread.onSpinWait();
      }
    }
  }

  private Thread newThread(Runnable work) {
    thread = new Thread(work, "interleaved transaction");
    return thread;
  }

  private void end() {
    Future<?> ended = inFlight;
    inFlight = null;
    try {
      ended.get();
      if (next == steps.size()) {
        outcome = Outcome.COMMITTED;
      }
    } catch (ExecutionException failed) {
      if (failed.getCause() instanceof StaleTokenException stale) {
        refusal = stale;
        outcome = Outcome.REFUSED;
      } else if (failed.getCause() instanceof SQLException sql
          && JdbcFence.staleToken(sql).isPresent()) {
        refusal = JdbcFence.staleToken(sql).get();
        outcome = Outcome.REFUSED;
      } else if (failed.getCause() instanceof SQLException sql
          && (SqlStates.isRetryable(sql) || SqlStates.isLockTimeout(sql))) {
        outcome = Outcome.CONFLICT;
      } else {
        throw new AssertionError("step " + next + " failed", failed.getCause());
      }
      rollback();
    } catch (InterruptedException interrupted) {
      throw new AssertionError(interrupted);
    }
  }

  private void rollback() {
    try {
      executor
          .submit(
              () -> {
                connection.rollback();
                return null;
              })
          .get(60, TimeUnit.SECONDS);
    } catch (Exception failed) {
      throw new AssertionError("rollback failed", failed);
    }
  }

  @Override
  public void close() throws SQLException {
    executor.shutdownNow();
    connection.close();
  }
}
