package dev.lukko.postgres;

import dev.lukko.LockException;
import dev.lukko.time.Scheduler;
import dev.lukko.time.Ticker;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
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
 *     claim.work(row, (mail, connection) -> send(mail.payload(), connection));
 *   }
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
 * <p><b>Failures.</b> {@link Claim#work}, {@link Claim#fail} and {@link LeasedRows#fail} put a row
 * back with a growing delay, and after the last attempt among the {@linkplain #deadLetters dead
 * letters}. A try also counts when the worker died without a word, or lost its connection: such
 * rows are then handed out one by one, so that the row that kills its workers is found, and no
 * other dies of it. A row lock that somebody else takes and rolls back is not taken for that.
 *
 * <p><b>Order.</b> By rank: the time of readiness, less a head start for each step of priority (see
 * {@link Builder#ageing}). A row is overtaken only by what became ready within that head start
 * after it, so none starves. Rows of one ordering key are worked on one at a time, in the order of
 * their ids, if the queue was built {@linkplain Builder#ordered so}; a row that is not ready yet
 * holds up the later ones of its key, and other keys are not held up.
 *
 * <p>Thread-safe; a claim belongs to one thread at a time. Connections come from the given
 * DataSource, which may pool: one for each open claim, and one to listen while workers wait. Leave
 * the pool room for them. They go back as they came; one that comes with a transaction open is
 * refused. The queue works at READ COMMITTED, whatever the source's connections are set to. Calls
 * end in bounded time on a network that is silent; how long it takes to get a connection is the
 * DataSource's to bound.
 */
public final class SkipLockedQueue implements AutoCloseable {
  private static final Duration CLOSING = Duration.ofSeconds(5);

  private final SchemaConnections database;
  private final QueueSql sql;
  private final CrashLedger ledger;
  private final Witnesses witnesses;
  private final Scheduler scheduler = Scheduler.create("lukko-queue");
  private final QueueSignal signal;
  private final ScanWindow window;
  private final int maxAttempts;
  private final Backoff backoff;
  private final String name;

  private SkipLockedQueue(Builder builder) {
    name = builder.name;
    maxAttempts = builder.maxAttempts;
    backoff = new Backoff(builder.firstDelay, builder.maxDelay);
    QueueTable table = builder.table == null ? QueueTable.ours(builder.schema) : builder.table;
    if (builder.ordered && table.orderingKey == null) {
      throw new IllegalArgumentException(
          "ordered is true, and table " + table + " names no ordering key; it needs one");
    }
    database = new SchemaConnections(builder.dataSource, builder.schema, table);
    sql =
        new QueueSql(
            table,
            name,
            builder.schema.name(),
            builder.ageing,
            maxAttempts,
            builder.ordered,
            builder.notify);
    ledger = new CrashLedger(builder.schema.name(), sql.ledgerName());
    witnesses = new Witnesses(builder.schema.name() + ".queue_witness");
    signal = new QueueSignal(builder.dataSource, sql.ledgerName(), builder.pollInterval, scheduler);
    window = new ScanWindow(builder.slowScanNanos, builder.nanos);
  }

  /** A queue of this name in our table, with the default settings. */
  public static SkipLockedQueue over(DataSource dataSource, String name) {
    return builder(dataSource, name).build();
  }

  /** A builder for a queue of this name, in our table. */
  public static Builder builder(DataSource dataSource, String name) {
    return new Builder(dataSource, name);
  }

  /**
   * Puts a job into the queue, in a transaction of its own; gives its id.
   *
   * @throws IllegalStateException if the DataSource hands out the connection of a transaction that
   *     is running; nothing is written
   */
  public long enqueue(QueueJob job) {
    ensureOurTable();
    return database.call(
        "Use enqueue(connection, job) to put a job into that transaction, or give the queue the"
            + " DataSource behind the proxy.",
        connection -> {
          try (PreparedStatement statement = connection.prepareStatement(sql.insertAlone)) {
            bind(statement, job);
            return id(QueueCalls.rows(statement));
          }
        });
  }

  /**
   * Puts a job into the queue in the caller's own transaction: it is there if that commits. With an
   * ordering key, jobs of the key should be put in by transactions that do not overlap; two that do
   * may be worked on in either order, though never at the same time.
   */
  public long enqueue(Connection connection, QueueJob job) {
    ensureOurTable();
    try (PreparedStatement statement = connection.prepareStatement(sql.insert)) {
      bind(statement, job);
      return id(statement.executeQuery());
    } catch (SQLException failure) {
      throw new LockException("a job could not be put into queue " + name, failure);
    }
  }

  private void ensureOurTable() {
    if (sql.isForeign()) {
      throw new IllegalStateException(
          "table "
              + sql.ledgerName()
              + " is the application's own; put rows into it by an INSERT of your own");
    }
  }

  private static void bind(PreparedStatement statement, QueueJob job) throws SQLException {
    statement.setString(1, job.payload());
    statement.setString(2, job.orderingKey().orElse(null));
    statement.setInt(3, job.priority());
    statement.setString(4, QueueCalls.interval(job.delay()));
  }

  private static long id(ResultSet inserted) throws SQLException {
    try (inserted) {
      inserted.next();
      return inserted.getLong(1);
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
    Claim claim =
        new ClaimMaker(database, sql, ledger, witnesses, window, maxAttempts, backoff).make(batch);
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
    QueueCalls.checkDuration("duration", duration, Duration.ofMillis(1));
    if (!sql.hasLeases()) {
      throw new IllegalArgumentException("the table names no column for the lease token");
    }
    signal.look();
    LeasedRows leased =
        new LeaseMaker(database, sql, window, maxAttempts, backoff).make(batch, duration);
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
    if (limit < 1) {
      throw new IllegalArgumentException("limit is " + limit + "; it must be at least 1");
    }
    return database.call(
        connection -> {
          try (PreparedStatement statement = connection.prepareStatement(sql.deadLetters)) {
            statement.setInt(1, limit);
            try (ResultSet result = QueueCalls.rows(statement)) {
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
    return database.call(
        connection -> {
          try (PreparedStatement statement = connection.prepareStatement(sql.revive)) {
            statement.setLong(1, id);
            return QueueCalls.changed(statement) == 1;
          }
        });
  }

  /**
   * Ends waits and gives the queue's own connection back; open claims stay as they are. Bounded: a
   * connection on which the server is silent is dropped.
   */
  @Override
  public void close() {
    signal.close();
    removeWitnesses();
    scheduler.close();
  }

  private void removeWitnesses() {
    if (witnesses.isEmpty()) {
      return;
    }
    try {
      new PgConnector.Bounded(scheduler)
          .call(
              () ->
                  database.call(
                      connection -> {
                        witnesses.removeFree(connection);
                        return true;
                      }),
              CLOSING,
              removed -> {});
    } catch (SQLException | RuntimeException left) {
      System.getLogger(SkipLockedQueue.class.getName())
          .log(System.Logger.Level.DEBUG, "witnesses stay behind; they are swept away later", left);
    }
  }

  /** What is to be done with one row, on the connection of its claim. */
  @FunctionalInterface
  public interface RowWork {

    /**
     * Works on a row.
     *
     * @param row the row
     * @param connection the claim's transaction, whose end is not the work's business
     * @throws Exception if the row has failed
     */
    void on(QueueRow row, Connection connection) throws Exception;
  }

  /** Rows that an open transaction holds. Not thread-safe. */
  public interface Claim extends AutoCloseable {

    /** The rows, in order of service; empty if there was nothing. */
    List<QueueRow> rows();

    /**
     * Works on a row under a savepoint of its own. When the work returns, the row is {@linkplain
     * #finish finished}; when it throws, or a statement of it has failed, what it wrote is undone
     * and the row has {@linkplain #fail failed}, and the other rows are none the worse. An {@code
     * InterruptedException} is no failure of the row: the work is undone, the row stays as it was,
     * and the thread is interrupted.
     *
     * @return what the work has thrown, or nothing if the row is finished
     * @throws IllegalArgumentException if the row is not of this claim
     * @throws LockException if the connection is broken, or the work has ended the transaction
     */
    Optional<Throwable> work(QueueRow row, RowWork work);

    /**
     * The transaction that holds them, for work that concerns the rows together, and is to be
     * committed with them. It is the claim's to end: a rollback or commit of the caller's own makes
     * {@link #commit} fail. What concerns one row belongs into {@link #work}: here nobody could
     * tell it from the rest, and so a row that {@linkplain #fail fails} takes all of it back.
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
     * <p>If {@link #connection} was used for the work, the whole claim's work is undone then: the
     * failures are counted and the other rows are free again, as they were.
     *
     * @param error why, in human-readable form; cut to 2000 characters
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
    private LongSupplier nanos = Ticker.system()::nanoTime;

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
      QueueCalls.checkDuration("first", first, Duration.ZERO);
      QueueCalls.checkDuration("limit", limit, Duration.ZERO);
      if (limit.compareTo(first) < 0) {
        throw new IllegalArgumentException(
            "backoff is " + first + " to " + limit + "; the limit must not be below the first");
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

    /**
     * Works on the rows of one ordering key one at a time, in the order of their ids; default
     * false. A row that is not ready, a delayed one or one that waits for its next try, holds up
     * the later ones of its key.
     */
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
     * missing or of another version, or a table is not as the queue needs it.
     */
    public SkipLockedQueue build() {
      return new SkipLockedQueue(this);
    }
  }
}
