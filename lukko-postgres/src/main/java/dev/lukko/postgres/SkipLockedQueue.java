package dev.lukko.postgres;

import dev.lukko.LockException;
import dev.lukko.time.Scheduler;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.LongSupplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A queue in a table, whose rows are handed out by {@code FOR UPDATE SKIP LOCKED}: each to one
 * worker, and no worker waits for another.
 *
 * <pre>{@code
 * try (SkipLockedQueue.Claim claim = queue.claim(20)) {
 *   for (QueueRow row : claim.rows()) {
 *     send(row.payload());
 *   }
 *   claim.finishAll();
 *   claim.commit();
 * }
 * }</pre>
 *
 * <p><b>Two ways to take rows.</b> {@link #claim} holds them by an open transaction, in which the
 * worker can do its own work: finishing and working are one commit, and when the worker dies its
 * rows are free at once. {@link #lease} is for long work: it marks the rows, commits, and keeps no
 * transaction open; the lease is renewed, finishing is fenced by a token, and when the worker dies
 * its rows are free when the lease ends.
 *
 * <p><b>Failures.</b> {@link Claim#fail} and {@link LeasedRows#fail} put a row back with a growing
 * delay, and after the last attempt among the {@linkplain #deadLetters dead letters}. A try also
 * counts when the worker died without a word, or lost its connection: such rows are then handed out
 * one by one, so that the row that kills its workers is found, and no other dies of it.
 *
 * <p><b>Order.</b> By rank: the time of readiness, less a head start for each step of priority (see
 * {@link Builder#ageing}). A row is overtaken only by what became ready within that head start
 * after it, so none starves. Rows of one ordering key are worked on one at a time, in the order of
 * their ids, if the queue was built {@linkplain Builder#ordered so}; other keys are not held up.
 *
 * <p>Thread-safe; a claim belongs to one thread at a time. Connections come from the given
 * DataSource, which may pool: one for each open claim, one to count crashes and one to listen, both
 * taken at the first need and kept until the queue is closed. Leave the pool room for them. The
 * queue works at READ COMMITTED, whatever the source's connections are set to.
 */
public final class SkipLockedQueue implements AutoCloseable {
  private final DataSource dataSource;
  private final QueueSql sql;
  private final CrashLedger ledger;
  private final QueueSignal signal;
  private final ScanWindow window;
  private final int maxAttempts;
  private final Backoff backoff;
  private final boolean notify;
  private final String name;

  private SkipLockedQueue(Builder builder) {
    dataSource = new QueueSource(builder.dataSource, builder.schema);
    name = builder.name;
    maxAttempts = builder.maxAttempts;
    backoff = new Backoff(builder.firstDelay, builder.maxDelay);
    notify = builder.notify;
    QueueTable table = builder.table == null ? QueueTable.ours(builder.schema) : builder.table;
    if (builder.ordered && table.orderingKey == null) {
      throw new IllegalArgumentException(
          "ordered is true, and table " + table + " names no ordering key; it needs one");
    }
    sql =
        new QueueSql(
            table, name, builder.schema.name(), builder.ageing, maxAttempts, builder.ordered);
    ledger = new CrashLedger(dataSource, builder.schema.name(), sql.ledgerName());
    signal = new QueueSignal(dataSource, sql.ledgerName(), builder.pollInterval);
    window = new ScanWindow(builder.slowScanNanos, builder.nanos);
  }

  /** A builder for a queue of this name, in our table. */
  public static Builder builder(DataSource dataSource, String name) {
    return new Builder(dataSource, name);
  }

  /** Puts a job into the queue, in a transaction of its own; gives its id. */
  public long enqueue(QueueJob job) {
    return QueueCalls.inAutocommit(dataSource, connection -> insert(connection, job));
  }

  /**
   * Puts a job into the queue in the caller's own transaction: it is there if that commits. With an
   * ordering key, jobs of the key should be put in by transactions that do not overlap; two that do
   * may be worked on in either order, though never at the same time.
   */
  public long enqueue(Connection connection, QueueJob job) {
    try {
      return insert(connection, job);
    } catch (SQLException failure) {
      throw new LockException("a job could not be put into queue " + name, failure);
    }
  }

  private long insert(Connection connection, QueueJob job) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql.insert)) {
      statement.setString(1, job.payload());
      statement.setString(2, job.orderingKey().orElse(null));
      statement.setInt(3, job.priority());
      statement.setString(4, QueueCalls.interval(job.delay()));
      long id;
      try (ResultSet result = statement.executeQuery()) {
        result.next();
        id = result.getLong(1);
      }
      if (notify) {
        signal.announce(connection);
      }
      return id;
    }
  }

  /**
   * Takes rows into a transaction of their own, without waiting.
   *
   * @param batch how many at most, from 1 to 10000
   * @return the rows, perhaps none, and the transaction that holds them; close it in any case
   */
  public Claim claim(int batch) {
    checkBatch(batch);
    signal.look();
    Claim claim = new ClaimMaker(dataSource, sql, ledger, window, maxAttempts, backoff).make(batch);
    if (claim.rows().isEmpty()) {
      signal.foundNothing();
    }
    return claim;
  }

  /**
   * Takes rows on lease, without waiting: marks them, counts the attempt, and commits.
   *
   * @param batch how many at most, from 1 to 10000
   * @param duration for how long nobody else gets them, unless it is renewed; by the database's
   *     clock, at least 1 ms
   */
  public LeasedRows lease(int batch, Duration duration) {
    checkBatch(batch);
    if (duration == null || duration.compareTo(Duration.ofMillis(1)) < 0) {
      throw new IllegalArgumentException("duration is " + duration + "; it must be at least 1 ms");
    }
    if (!sql.hasLeases()) {
      throw new IllegalArgumentException("the table names no column for the lease token");
    }
    signal.look();
    LeasedRows leased =
        new LeaseMaker(dataSource, sql, window, maxAttempts, backoff).make(batch, duration);
    if (leased.rows().isEmpty()) {
      signal.foundNothing();
    }
    return leased;
  }

  private static void checkBatch(int batch) {
    if (batch < 1 || batch > 10_000) {
      throw new IllegalArgumentException("batch is " + batch + "; it must be from 1 to 10000");
    }
  }

  /**
   * Waits for a reason to look again after a claim that found nothing: a job was announced since
   * then, or the poll interval has passed, for rows that come without a word (delayed ones, those
   * of a worker that died, those that other programs insert).
   *
   * @param maxWait how long to wait at most; zero or less returns at once
   * @return true if there may be work; false if the wait ended first or the queue was closed
   * @throws InterruptedException if this thread is interrupted
   */
  public boolean awaitWork(Duration maxWait) throws InterruptedException {
    return signal.await(Scheduler.toNanosSaturated(maxWait));
  }

  /** The rows that were given up, the oldest first. */
  public List<QueueRow> deadLetters(int limit) {
    return QueueCalls.inAutocommit(
        dataSource,
        connection -> {
          try (PreparedStatement statement = connection.prepareStatement(sql.deadLetters)) {
            statement.setInt(1, limit);
            try (ResultSet result = statement.executeQuery()) {
              List<QueueRow> rows = new ArrayList<>();
              while (result.next()) {
                rows.add(PickedRow.read(result).row());
              }
              return rows;
            }
          }
        });
  }

  /** Gives a dead letter another life, with all its attempts; false if it is none. */
  public boolean revive(long id) {
    return QueueCalls.inAutocommit(
        dataSource,
        connection -> {
          try (PreparedStatement statement = connection.prepareStatement(sql.revive)) {
            statement.setLong(1, id);
            return statement.executeUpdate() == 1;
          }
        });
  }

  /** Ends waits and gives the queue's own connections back; open claims stay as they are. */
  @Override
  public void close() {
    signal.close();
    ledger.close();
  }

  /** Rows that an open transaction holds. Not thread-safe. */
  public interface Claim extends AutoCloseable {

    /** The rows, in order of service; empty if there was nothing. */
    List<QueueRow> rows();

    /**
     * The transaction that holds them, for work that is to be committed with them. It is the
     * claim's to end: a rollback or commit of the caller's own makes {@link #commit} fail.
     */
    Connection connection();

    /**
     * Finishes rows: they are gone, or marked as done, when {@link #commit} is called, with which
     * this goes to the server.
     *
     * @throws IllegalArgumentException if one of them is not of this claim
     */
    void finish(List<QueueRow> rows);

    /** Finishes all rows. */
    default void finishAll() {
      finish(rows());
    }

    /**
     * Puts a row back with one attempt more, after a delay that doubles each time; after the last
     * attempt it becomes a dead letter. Goes to the server with {@link #commit}; of a row that is
     * both finished and failed, the last word counts.
     *
     * @param error why, for people; cut to 2000 characters
     */
    void fail(QueueRow row, String error);

    /** Commits. Rows that were neither finished nor failed are free again, as they were. */
    void commit();

    /** Rolls back unless {@link #commit} was called, which frees all rows as they were. */
    @Override
    void close();
  }

  /** Collects the settings of a queue; each setter checks its value. Not thread-safe. */
  public static final class Builder {
    private final DataSource dataSource;
    private final String name;
    private PostgresSchema schema = PostgresSchema.standard();
    private @Nullable QueueTable table;
    private int maxAttempts = 10;
    private Duration firstDelay = Duration.ofSeconds(1);
    private Duration maxDelay = Duration.ofHours(1);
    private Duration ageing = Duration.ofMinutes(1);
    private Duration pollInterval = Duration.ofSeconds(1);
    private boolean ordered;
    private boolean notify = true;
    private long slowScanNanos = 20_000_000;
    private LongSupplier nanos = System::nanoTime;

    private Builder(DataSource dataSource, String name) {
      this.dataSource = Objects.requireNonNull(dataSource, "dataSource");
      if (name == null || !name.matches("[A-Za-z0-9_.-]{1,100}")) {
        throw new IllegalArgumentException(
            "name is \""
                + name
                + "\"; it must have 1 to 100 letters, digits, dots, dashes and underscores");
      }
      this.name = name;
    }

    /** Sets the schema of our tables; default {@code lukko}. */
    public Builder schema(PostgresSchema schema) {
      this.schema = Objects.requireNonNull(schema, "schema");
      return this;
    }

    /** Works on a table of the application's own, which it fills itself. */
    public Builder table(QueueTable table) {
      this.table = Objects.requireNonNull(table, "table");
      return this;
    }

    /** Sets how often a row is tried before it is a dead letter: 1 to 1000, default 10. */
    public Builder maxAttempts(int maxAttempts) {
      if (maxAttempts < 1 || maxAttempts > 1_000) {
        throw new IllegalArgumentException(
            "maxAttempts is " + maxAttempts + "; it must be from 1 to 1000");
      }
      this.maxAttempts = maxAttempts;
      return this;
    }

    /**
     * Sets the delay after the first failure, which doubles with each further one, and its limit:
     * default 1 s and 1 h.
     */
    public Builder backoff(Duration first, Duration limit) {
      if (first == null || first.isNegative() || limit == null || limit.compareTo(first) < 0) {
        throw new IllegalArgumentException(
            "backoff is " + first + " to " + limit + "; it must be 0 or more, and not descend");
      }
      this.firstDelay = first;
      this.maxDelay = limit;
      return this;
    }

    /**
     * Sets the head start of one step of priority: 1 ms to 1 day, default 1 min. A row of priority
     * 5 goes before rows of priority 0 that became ready up to 5 min earlier, and after older ones.
     */
    public Builder ageing(Duration ageing) {
      if (ageing == null
          || ageing.compareTo(Duration.ofMillis(1)) < 0
          || ageing.compareTo(Duration.ofDays(1)) > 0) {
        throw new IllegalArgumentException(
            "ageing is " + ageing + "; it must be from 1 ms to 1 day");
      }
      this.ageing = ageing;
      return this;
    }

    /** Works on the rows of one ordering key one at a time; default false. */
    public Builder ordered(boolean ordered) {
      this.ordered = ordered;
      return this;
    }

    /** Announces each job to waiting workers; default true. Without, they find it by polling. */
    public Builder notify(boolean notify) {
      this.notify = notify;
      return this;
    }

    /** Sets how long a waiting worker goes without looking: 1 ms to 1 h, default 1 s. */
    public Builder pollInterval(Duration pollInterval) {
      if (pollInterval == null
          || pollInterval.compareTo(Duration.ofMillis(1)) < 0
          || pollInterval.compareTo(Duration.ofHours(1)) > 0) {
        throw new IllegalArgumentException(
            "pollInterval is " + pollInterval + "; it must be from 1 ms to 1 h");
      }
      this.pollInterval = pollInterval;
      return this;
    }

    /** Sets from when a search counts as slow, so that tests need no slow ones. */
    Builder slowScan(Duration slow) {
      this.slowScanNanos = slow.toNanos();
      return this;
    }

    /** Sets the clock by which searches are slow. */
    Builder nanos(LongSupplier nanos) {
      this.nanos = nanos;
      return this;
    }

    /**
     * The queue; no connection is opened before the first call, which fails if our schema is
     * missing or of another version.
     */
    public SkipLockedQueue build() {
      return new SkipLockedQueue(this);
    }
  }
}
