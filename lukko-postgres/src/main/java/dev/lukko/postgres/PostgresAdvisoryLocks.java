package dev.lukko.postgres;

import dev.lukko.ClientClosedException;
import dev.lukko.ClientHealth;
import dev.lukko.Lease;
import dev.lukko.LockClient;
import dev.lukko.LockException;
import dev.lukko.LockListener;
import dev.lukko.LockReport;
import dev.lukko.LockRequest;
import dev.lukko.spi.ProcessName;
import dev.lukko.text.PrintableAddress;
import dev.lukko.time.Scheduler;
import dev.lukko.time.Ticker;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A lock client on PostgreSQL's advisory locks: a lease is held by a server session.
 *
 * <pre>{@code
 * try (PostgresAdvisoryLocks locks = PostgresAdvisoryLocks.connect(url, user, password);
 *     Lease lease = locks.acquire("invoices", Duration.ofSeconds(30))) {
 *   ledger.post(invoice, lease.fencingToken());
 * }
 * }</pre>
 *
 * <p><b>No ttl to guess.</b> A lock is held as long as the session lives, and is free at once when
 * the holder's process dies, since the server sees its connection close. The {@code ttl} of a
 * request has another meaning here than with the quorum client: it is the longest time for which
 * the session may show no sign of life. (A session that leaves one statement unanswered for the
 * node timeout is given up before that, with all its leases.) In the background the client asks the
 * session for a sign of life, at least three times within the shortest ttl and every second (see
 * {@link Builder#probeInterval}); each one renews all leases. A lease that saw none for its ttl is
 * lost: {@link Lease#isValid()} is false, {@link Lease#onLost} is called, and the lock is given
 * back if the session turns out to live. {@link Lease#extend} asks for a sign of life now and sets
 * the ttl for the rest of the hold. {@link LockRequest#autoExtend()} has no effect; {@link
 * LockRequest#maxHold()} limits the hold. A lease that was not released and that nobody refers to
 * any more is reported, not renewed, and ends by its ttl; one with a callback for its loss is kept.
 *
 * <p><b>What it promises.</b> One holder at a time as long as the holder's session lives. When an
 * administrator or a failing server ends the session, the server frees the lock at that instant and
 * the holder learns of it by the next sign of life: for that long two may believe that they hold
 * it. When the network between them is cut, the holder's lease ends after its ttl; the server frees
 * the lock when TCP keep-alive reports the peer dead, which this client sets to about 25 seconds. A
 * resource that must be correct through all that checks the {@linkplain Lease#fencingToken()
 * fencing token}: it comes from one sequence of the database, is drawn while the lock is held, and
 * is higher than that of every earlier grant. After a failover to an asynchronous standby, locks
 * are gone and the sequence may have lost its last values.
 *
 * <p><b>Names.</b> The server knows locks by 64-bit numbers; these are the start of a SHA-256
 * digest of namespace and name. Among a thousand names the odds that any two collide are 1 in 37
 * million million; among a million, 1 in 37 million. A hold that lasts longer than a probe interval
 * is written down with its name, for people and so that a collision is reported as {@link
 * LockNameCollisionException} and not as contention.
 *
 * <p><b>Connections.</b> All leases of a client share one dedicated connection. A second one exists
 * while calls wait for locks of other processes. Neither comes from a pool, so holders cannot
 * starve one: a {@code DataSource} that pools is refused. Waiting holds no statement, transaction
 * or snapshot open, so a {@code CREATE INDEX CONCURRENTLY} is never held up by waiters. A
 * connection about which there is any doubt is dropped, with all that it held; the next call opens
 * another. PgBouncer in transaction mode is refused, and any change of the server session is
 * noticed by the next statement.
 *
 * <p><b>Limits.</b> Fair queueing is refused before any I/O. Shared holds and several names in one
 * request work. Each held name takes an entry of the server's lock table.
 *
 * <p>Thread-safe. Blocking calls are bounded: a statement by the node timeout, at most twice that
 * when the session has to be opened first, and three times for the first one of a client, with
 * which a second session tries whether the server's locks exclude it.
 */
public final class PostgresAdvisoryLocks implements LockClient {
  private final AdvisoryEngine engine;

  PostgresAdvisoryLocks(AdvisoryEngine engine) {
    this.engine = engine;
  }

  /**
   * A client with default settings.
   *
   * @param url a {@code jdbc:postgresql:} url of the primary, not of a pooler in transaction mode
   * @throws UnsuitableDatabaseException if the database must not carry session locks, or lacks the
   *     {@link PostgresSchema}
   */
  public static PostgresAdvisoryLocks connect(String url, String user, String password) {
    return builder().url(url, user, password).build();
  }

  /**
   * A client with default settings.
   *
   * @param dataSource gives physical connections, as {@code PGSimpleDataSource} does
   * @throws UnsuitableDatabaseException if it gives pooled ones, or as {@link #connect} does
   */
  public static PostgresAdvisoryLocks over(DataSource dataSource) {
    return builder().dataSource(dataSource).build();
  }

  /** A builder with default settings. */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * {@inheritDoc}
   *
   * @throws LockNameCollisionException if another name with the same number holds the lock
   * @throws LockException if the server's lock table is full
   * @throws IllegalArgumentException if the request asks for fair queueing
   */
  @Override
  public Lease acquire(LockRequest request) {
    return engine.attempt(request).await();
  }

  @Override
  public CompletableFuture<Lease> acquireAsync(LockRequest request) {
    Attempt attempt;
    try {
      attempt = engine.attempt(request);
    } catch (ClientClosedException closed) {
      return CompletableFuture.failedFuture(closed);
    }
    return attempt.begin();
  }

  /**
   * {@inheritDoc} An entry here is a server session that holds the lock, and its fingerprint the
   * number of the server process; holders in transactions are shown too. No expiry is reported,
   * since a lock lasts as long as its session; no counter, since the token is the lease's own.
   */
  @Override
  public LockReport inspect(String resource) {
    return engine.inspect(resource);
  }

  @Override
  public ClientHealth health() {
    return engine.health();
  }

  /** {@link #inTransaction(Connection, Collection, Duration)} for one name. */
  public long inTransaction(Connection connection, String name, Duration maxWait) {
    return inTransaction(connection, List.of(name), maxWait);
  }

  /** The same, waiting as long as this client's {@link Builder#maxWait}. */
  public long inTransaction(Connection connection, String name) {
    return inTransaction(connection, List.of(name), engine.maxWait());
  }

  /**
   * Locks names until the caller's own transaction commits or rolls back. They exclude leases of
   * the same names, and other transactions. This client's connection is not used.
   *
   * <p>Waiting happens in the server, inside the caller's transaction, so a deadlock between
   * transactions is found by the server, and the snapshot of the statement stays open meanwhile.
   * When the wait ends without the lock, the transaction is as it was before the call. A rollback
   * to a savepoint that was set before the call gives the locks back.
   *
   * @param connection has a transaction at READ COMMITTED. Above that level, all statements see the
   *     database as it was when the first one began, before the lock was granted; such a
   *     transaction is refused, and so is a connection in autocommit mode
   * @param names what to lock, in any number and order; the order of locking is always the same
   * @param maxWait how long to wait at most; zero or less than 1 ms waits 1 ms
   * @return a fencing token, from the same sequence as the leases' tokens
   * @throws dev.lukko.LockBusyException if the wait ended without the lock; it tells who holds it
   * @throws LockNameCollisionException if a lease of another name with the same number holds it
   * @throws LockException if the server's lock table is full, which the message explains, or the
   *     statement failed; the transaction must be rolled back then
   * @throws IllegalArgumentException if the connection is in autocommit mode, or its transaction
   *     above READ COMMITTED
   */
  public long inTransaction(Connection connection, Collection<String> names, Duration maxWait) {
    Objects.requireNonNull(maxWait, "maxWait");
    return engine.transactionLocks().lock(connection, engine.keysOf(names), maxWait);
  }

  /** {@link #tryInTransaction(Connection, Collection)} for one name. */
  public OptionalLong tryInTransaction(Connection connection, String name) {
    return tryInTransaction(connection, List.of(name));
  }

  /**
   * Locks names until the caller's own transaction ends, if all of them are free now.
   *
   * @return the fencing token, or empty if one of them is held; then none is locked
   * @throws LockNameCollisionException if a lease of another name with the same number holds it
   * @throws IllegalArgumentException if the connection is in autocommit mode, or its transaction
   *     above READ COMMITTED
   */
  public OptionalLong tryInTransaction(Connection connection, Collection<String> names) {
    return engine.transactionLocks().tryLock(connection, engine.keysOf(names));
  }

  /**
   * Ends the client: waiting calls fail with {@link ClientClosedException}, live leases are given
   * back and told so by {@link Lease#onLost} with {@link dev.lukko.LossReason#CLIENT_CLOSED}, the
   * connections are closed. Bounded by twice the node timeout; idempotent; never throws.
   */
  @Override
  public void close() {
    engine.close();
  }

  @Override
  public String toString() {
    return "PostgresAdvisoryLocks" + engine;
  }

  /** Collects the settings of a client; each setter checks its value at once. Not thread-safe. */
  public static final class Builder {
    PgConnector.@Nullable Opening opening;
    PostgresSchema schema = PostgresSchema.standard();
    String namespace = "lukko";
    Duration nodeTimeout = Duration.ofSeconds(2);
    Duration maxWait = Duration.ofSeconds(10);
    Duration retryDelay = Duration.ofMillis(50);
    Duration retryJitter = Duration.ofMillis(50);
    Duration probeInterval = Duration.ofSeconds(1);
    String description = ProcessName.get();
    final List<LockListener> listeners = new ArrayList<>();
    LockKey.Maker keys = LockKey::of;
    Ticker ticker = Ticker.system();
    @Nullable Scheduler scheduler;
    @Nullable Executor callbackExecutor;

    private Builder() {}

    /** Sets where to connect to: a {@code jdbc:postgresql:} url, with user and password. */
    public Builder url(String url, @Nullable String user, @Nullable String password) {
      if (url == null || !url.startsWith("jdbc:postgresql:")) {
        throw new IllegalArgumentException(
            "url is \"" + PrintableAddress.of(url) + "\"; it must begin with jdbc:postgresql:");
      }
      this.opening = () -> PgConnector.to(url, user, password, nodeTimeout).open();
      return this;
    }

    /** Sets where physical connections come from instead, such as a {@code PGSimpleDataSource}. */
    public Builder dataSource(DataSource dataSource) {
      this.opening = PgConnector.to(Objects.requireNonNull(dataSource, "dataSource"));
      return this;
    }

    /** Sets the schema of the sequence and the tables; default {@code lukko}. */
    public Builder schema(PostgresSchema schema) {
      this.schema = Objects.requireNonNull(schema, "schema");
      return this;
    }

    /**
     * Sets what keeps the names of one application apart from those of another in the same
     * database: 1 to 63 characters, no control characters; default {@code lukko}.
     */
    public Builder namespace(String namespace) {
      if (namespace == null
          || namespace.isEmpty()
          || namespace.length() > 63
          || namespace.chars().anyMatch(Character::isISOControl)) {
        throw new IllegalArgumentException(
            "namespace is \""
                + namespace
                + "\"; it must have 1 to 63 characters and no control characters");
      }
      this.namespace = namespace;
      return this;
    }

    /**
     * Sets how long a statement, or the opening of a connection, may take: 10 ms to 1 h, default 2
     * s. The server cancels a statement after three quarters of it, or at its own {@code
     * statement_timeout} if that is shorter; a connection that is silent for the whole of it is
     * dropped.
     */
    public Builder nodeTimeout(Duration nodeTimeout) {
      this.nodeTimeout =
          between("nodeTimeout", nodeTimeout, Duration.ofMillis(10), Duration.ofHours(1));
      return this;
    }

    /** Sets how long {@code acquire} waits when the request does not say: default 10 s. */
    public Builder maxWait(Duration maxWait) {
      this.maxWait = between("maxWait", maxWait, Duration.ZERO, LockRequest.FOREVER);
      return this;
    }

    /**
     * Sets the delay between two rounds of a waiting call, 1 ms to 1 min, default 50 ms. It matters
     * when a holder dies; a release is announced.
     */
    public Builder retryDelay(Duration retryDelay) {
      this.retryDelay =
          between("retryDelay", retryDelay, Duration.ofMillis(1), Duration.ofMinutes(1));
      return this;
    }

    /** Sets the largest random addition to the delay, 0 to 1 min, default 50 ms. */
    public Builder retryJitter(Duration retryJitter) {
      this.retryJitter = between("retryJitter", retryJitter, Duration.ZERO, Duration.ofMinutes(1));
      return this;
    }

    /**
     * Sets the longest time between two signs of life while a lease is held: 5 ms to 1 h, default 1
     * s. A lease learns that its session has ended within this time, or a third of its ttl, or a
     * third of the server's {@code idle_session_timeout}, whichever is shortest, plus the node
     * timeout.
     */
    public Builder probeInterval(Duration probeInterval) {
      this.probeInterval =
          between("probeInterval", probeInterval, Duration.ofMillis(5), Duration.ofHours(1));
      return this;
    }

    /** Sets how this process is shown to others; default process number and host name. */
    public Builder description(String description) {
      this.description = Objects.requireNonNull(description, "description");
      return this;
    }

    /** Adds a listener; it is called in a callback thread of the client. */
    public Builder listener(LockListener listener) {
      listeners.add(Objects.requireNonNull(listener, "listener"));
      return this;
    }

    /** Sets the clocks; default those of the machine. */
    public Builder ticker(Ticker ticker) {
      this.ticker = Objects.requireNonNull(ticker, "ticker");
      return this;
    }

    /** Sets the timers and callback threads; default its own, which end with the client. */
    public Builder scheduler(Scheduler scheduler) {
      this.scheduler = Objects.requireNonNull(scheduler, "scheduler");
      return this;
    }

    /**
     * Replaces the threads of callbacks, listeners, asynchronous bodies and dependent stages. It is
     * the caller's to close, and must not run tasks in the thread that gives them; what it refuses
     * runs in a thread of the client's. By default these are the callback threads of the {@link
     * #scheduler}.
     */
    public Builder callbackExecutor(Executor executor) {
      this.callbackExecutor = Objects.requireNonNull(executor, "callbackExecutor");
      return this;
    }

    /** Replaces the making of numbers, so that tests can make two names collide. */
    Builder keys(LockKey.Maker keys) {
      this.keys = keys;
      return this;
    }

    /**
     * Opens the client. When the server cannot be reached, it is opened all the same, and joins
     * when the server is there.
     *
     * @throws UnsuitableDatabaseException if the database must not carry session locks
     * @throws LockException if the server refuses the connection
     * @throws IllegalArgumentException if neither a url nor a DataSource was set
     */
    public PostgresAdvisoryLocks build() {
      AdvisoryEngine engine = new AdvisoryEngine(this);
      engine.openFirstSession();
      return new PostgresAdvisoryLocks(engine);
    }

    private static Duration between(String field, Duration value, Duration least, Duration most) {
      if (value == null || value.compareTo(least) < 0 || value.compareTo(most) > 0) {
        throw new IllegalArgumentException(
            field + " is " + value + "; it must be from " + least + " to " + most);
      }
      return value;
    }
  }
}
