package dev.lukko.jdbc;

import dev.lukko.spi.Capability;
import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.Failed;
import dev.lukko.spi.FleetChange;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.Inspection;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeFault;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.spi.Unknown;
import dev.lukko.time.Scheduler;
import dev.lukko.time.Ticker;
import java.sql.SQLException;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A lock node on an SQL database: PostgreSQL, MySQL, MariaDB, H2 or SQLite.
 *
 * <p>Each resource is one row, with its owner, its expiry by the database's clock, and a counter
 * that survives release. The node works on connections of its own, at most a handful, in
 * transactions of its own at READ COMMITTED; it never sees a transaction of the caller. While
 * somebody waits for a lock, nothing is open at the database.
 *
 * <pre>{@code
 * JdbcSchema.create(dataSource);                        // once; or run JdbcSchema.ddl(...)
 * LockClient locks = Redlock.over(JdbcNode.over(dataSource));
 * }</pre>
 *
 * <p>Give the node a small data source of its own. With the application's pool it works, but a pool
 * that is exhausted by the holders of locks cannot serve their releases.
 *
 * <p>Blocking calls run on daemon threads named {@code lukko-jdbc-...}, and stages complete in one
 * of these threads. On PostgreSQL, MySQL and MariaDB a caller that waits anyway, as every blocking
 * call of a client with one node does, runs its statement itself while the server answers quickly
 * ({@link #grantInCaller}); the stage then completes in its thread. A request that was not answered
 * within the request timeout is given up, and its connection with it; every stage completes.
 * Instances are thread-safe.
 *
 * <p>On PostgreSQL, waiters are woken by LISTEN and NOTIFY, over one more connection from the first
 * wait on. Readers' entries ({@link Capability#SHARED}) work everywhere, fair lines nowhere.
 *
 * @see JdbcNodeBuilder
 */
public final class JdbcNode implements LockNode {
  static final String RELEASE = "release";

  private static final System.Logger LOG = System.getLogger(JdbcNode.class.getName());
  private static final AtomicInteger NUMBER = new AtomicInteger();
  private static final long MAX_GRACE_MILLIS = 500;

  private final JdbcSettings settings;
  private final Scheduler scheduler;
  private final Sessions sessions;
  private final Dispatcher dispatcher;
  private final Holds holds;
  private final KeptReleases kept;
  private final Purge purge;
  private final Verbs single;
  private final Verbs locked;
  private final String threadName;
  private final AtomicBoolean closed = new AtomicBoolean();
  private final String name;
  private @Nullable PostgresHints hints;

  JdbcNode(DataSource source, JdbcSettings settings, Ticker ticker) {
    int number = NUMBER.incrementAndGet();
    this.threadName = "lukko-jdbc-" + number;
    this.settings = settings;
    this.scheduler = Scheduler.create(threadName);
    this.sessions = new Sessions(source, settings, ticker, scheduler::execute);
    this.dispatcher = new Dispatcher(threadName, settings, sessions, ticker, scheduler);
    this.holds = new Holds(ticker, settings.requestTimeoutMillis() * 1_000_000L);
    this.kept = new KeptReleases(ticker, scheduler, holds, entry -> sendRelease(entry, 0));
    this.purge = new Purge(dispatcher, settings.retentionMillis());
    this.single = new SingleVerbs(settings.notifications());
    this.locked = new LockedVerbs(settings.notifications());
    boolean ready = false;
    try {
      firstConnect();
      ready = true;
    } finally {
      if (!ready) {
        close();
      }
    }
    String connected = sessions.url();
    String url = connected == null ? Addresses.urlOf(source) : connected;
    this.name = settings.name() != null ? settings.name() : Addresses.of(url, number);
  }

  /**
   * A node with the default settings on connections of this source, which stays open; see {@link
   * JdbcNodeBuilder#build}.
   */
  public static JdbcNode over(DataSource source) {
    return builder(source).build();
  }

  /**
   * A node with the default settings on connections of its own; see {@link JdbcNodeBuilder#build}.
   *
   * @param url a JDBC URL, with what is needed to log in; its driver must be there
   */
  public static JdbcNode connect(String url) {
    return builder(url).build();
  }

  /** A builder for a node that takes its connections from this source, and does not close it. */
  public static JdbcNodeBuilder builder(DataSource source) {
    return new JdbcNodeBuilder(source);
  }

  /** A builder for a node that opens its connections by a JDBC URL. */
  public static JdbcNodeBuilder builder(String url) {
    return new JdbcNodeBuilder(DriverDataSource.of(url));
  }

  /** A wrong schema is refused here; a server that is down is not, since it may come up. */
  private void firstConnect() {
    Request<NodeFault> probe =
        new Request<>(
            "connect", null, session -> new Failed(""), fault -> fault, dispatcher.deadline());
    dispatcher.submit(probe);
    NodeFault outcome = probe.reply().join();
    for (Throwable cause = outcome.cause(); cause != null; cause = cause.getCause()) {
      if (cause instanceof SchemaException || isWithoutDriver(cause)) {
        throw new IllegalStateException(cause.getMessage(), cause);
      }
    }
    if (!outcome.detail().isEmpty()) {
      LOG.log(
          System.Logger.Level.WARNING,
          "the database cannot be reached yet, the node joins when it can: {0}",
          outcome.detail());
    }
    dispatcher.fit();
  }

  /** What the manager of drivers says, through whatever data source; it will not change. */
  private static boolean isWithoutDriver(Throwable failure) {
    String message = failure.getMessage();
    return failure instanceof SQLException
        && message != null
        && message.startsWith("No suitable driver");
  }

  @Override
  public String name() {
    return name;
  }

  /**
   * What the database can do: shared entries always, hints on PostgreSQL. A node whose database
   * could not be reached so far, and whose dialect was not given, does not know about hints yet.
   */
  @Override
  public Set<Capability> capabilities() {
    return hasHints()
        ? EnumSet.of(Capability.SHARED, Capability.WATCH)
        : EnumSet.of(Capability.SHARED);
  }

  private boolean hasHints() {
    return settings.notifications() && sessions.dialect() == Dialect.POSTGRES;
  }

  @Override
  public CompletionStage<GrantReply> grant(GrantRequest request) {
    return grant(request, 0);
  }

  /**
   * Grants, and runs the statement in this thread if the server has answered quickly before, a
   * connection is idle, and no other request of the owner is on its way: one attempt, whose
   * connection is aborted when the patience is over. Everything else is a worker's, as in {@link
   * #grant}. On H2 and SQLite it always is.
   */
  @Override
  public CompletionStage<GrantReply> grantInCaller(GrantRequest request, long patienceNanos) {
    return grant(request, patienceNanos);
  }

  private CompletionStage<GrantReply> grant(GrantRequest request, long patienceNanos) {
    LockEntry entry = request.entry();
    Failed unfit = Storable.unfit(entry);
    if (unfit != null) {
      return CompletableFuture.completedFuture(unfit);
    }
    holds.asked(entry, request.ttlMillis());
    purge.sometimes();
    return submit(
        "grant",
        entry,
        session -> {
          GrantReply reply = verbs(entry).grant(session, request);
          if (reply instanceof GrantReply.Refused) {
            holds.refused(entry);
          }
          return reply;
        },
        fault -> doubted(entry, fault),
        patienceNanos);
  }

  @Override
  public CompletionStage<ConfirmReply> confirm(LockEntry entry, long counter) {
    Failed unfit = Storable.unfit(entry, counter);
    return unfit != null
        ? CompletableFuture.completedFuture(unfit)
        : submit(
            "confirm",
            entry,
            session -> verbs(entry).confirm(session, entry, counter),
            fault -> fault,
            0);
  }

  @Override
  public CompletionStage<ExtendReply> extend(LockEntry entry, long ttlMillis) {
    Failed unfit = Storable.unfit(entry);
    if (unfit != null) {
      return CompletableFuture.completedFuture(unfit);
    }
    holds.asked(entry, ttlMillis);
    return submit(
        "extend",
        entry,
        session -> verbs(entry).extend(session, entry, ttlMillis),
        fault -> fault,
        0);
  }

  @Override
  public CompletionStage<ExtendReply> repair(
      LockEntry entry, long ttlMillis, long counter, long lastMillis) {
    Failed unfit = Storable.unfit(entry, counter);
    if (unfit != null) {
      return CompletableFuture.completedFuture(unfit);
    }
    holds.asked(entry, ttlMillis);
    return submit(
        "repair",
        entry,
        session -> verbs(entry).repair(session, entry, ttlMillis, counter, lastMillis),
        fault -> doubted(entry, fault),
        0);
  }

  @Override
  public CompletionStage<ReleaseReply> release(LockEntry entry) {
    return release(entry, 0);
  }

  /** Releases, in this thread where {@link #grantInCaller} would grant in it. */
  @Override
  public CompletionStage<ReleaseReply> releaseInCaller(LockEntry entry, long patienceNanos) {
    return release(entry, patienceNanos);
  }

  private CompletionStage<ReleaseReply> release(LockEntry entry, long patienceNanos) {
    Failed unfit = Storable.unfit(entry);
    if (unfit != null) {
      return CompletableFuture.completedFuture(unfit);
    }
    CompletionStage<ReleaseReply> reply = sendRelease(entry, patienceNanos);
    reply.whenComplete((answer, failure) -> kept.ended(entry, answer));
    return reply;
  }

  private CompletionStage<ReleaseReply> sendRelease(LockEntry entry, long patienceNanos) {
    return submit(
        RELEASE,
        entry,
        session -> verbs(entry).release(session, entry),
        fault -> fault,
        patienceNanos);
  }

  /**
   * Whether the database can be reached and may vote: not as a replica, which is unfit. A database
   * that is set to answer before a commit is safe on disk gets a warning.
   */
  @Override
  public CompletionStage<NodeStatus> status() {
    Request<NodeStatus> request =
        new Request<>(
            "status",
            null,
            Inspections::status,
            fault -> NodeStatus.unreachable(fault.detail()),
            dispatcher.deadline());
    dispatcher.submit(request);
    return request.reply();
  }

  @Override
  public CompletionStage<NodeStatus> admit(NodeStatus seen, FleetChange change) {
    Request<NodeStatus> request =
        new Request<>(
            "admit",
            null,
            session -> {
              FleetTable.admit(session, seen, change);
              return Inspections.status(session);
            },
            fault -> NodeStatus.unreachable(fault.detail()),
            dispatcher.deadline());
    dispatcher.submit(request);
    return request.reply();
  }

  @Override
  public CompletionStage<Long> highestCounter() {
    return question("highest counter", Inspections::highestCounter);
  }

  @Override
  public CompletionStage<Inspection> inspect(String resource) {
    return question("inspect", session -> Inspections.read(session, resource));
  }

  private <T> CompletionStage<T> question(String what, Request.Work<T> work) {
    Request<T> request =
        new Request<>(
            what,
            null,
            work,
            fault -> {
              throw new CompletionException(
                  new SQLException(name() + ": " + fault.detail(), fault.cause()));
            },
            dispatcher.deadline());
    dispatcher.submit(request);
    return request.reply();
  }

  @Override
  public Watch watch(String resource, Runnable hint) {
    if (!hasHints() || closed.get()) {
      return () -> {};
    }
    try {
      return hints().watch(resource, hint);
    } catch (NoClassDefFoundError otherDriver) {
      LOG.log(System.Logger.Level.DEBUG, "no hints without the PostgreSQL driver", otherDriver);
      return () -> {};
    }
  }

  private synchronized PostgresHints hints() {
    if (hints == null) {
      hints = new PostgresHints(sessions, threadName + "-listen");
    }
    return hints;
  }

  /**
   * Deletes the rows of resources that nobody has held for the counter retention, in small steps.
   * The node does the same by itself, a step now and then.
   *
   * @return how many rows were deleted; fails exceptionally if the database cannot be reached
   */
  public CompletionStage<Long> purge() {
    return purge.all();
  }

  /** How many releases wait to be sent again. */
  int keptReleases() {
    return kept.size();
  }

  /** How many owners the node remembers. */
  int rememberedOwners() {
    return holds.size();
  }

  /** Whether no request is on its way, and every connection has been given back. */
  boolean isQuiet() {
    return dispatcher.isQuiet();
  }

  /** Whether hints can arrive at this moment. */
  synchronized boolean isListening() {
    return hints != null && hints.isListening();
  }

  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    long graceMillis = Math.min(MAX_GRACE_MILLIS, settings.requestTimeoutMillis());
    PostgresHints listening;
    synchronized (this) {
      listening = hints;
    }
    kept.close();
    if (listening != null) {
      listening.close(graceMillis);
    }
    dispatcher.close(graceMillis);
    scheduler.close();
  }

  private Verbs verbs(LockEntry entry) {
    return entry.shared() || entry.resources().size() > 1 ? locked : single;
  }

  /**
   * Sends a request.
   *
   * @param patienceNanos how long the caller can be blocked; zero if it does not wait
   */
  private <T> CompletionStage<T> submit(
      String verb,
      LockEntry entry,
      Request.Work<T> work,
      Function<NodeFault, T> fault,
      long patienceNanos) {
    Request<T> request = new Request<>(verb, entry.owner(), work, fault, dispatcher.deadline());
    if (patienceNanos > 0) {
      dispatcher.submitInCaller(request, patienceNanos);
    } else {
      dispatcher.submit(request);
    }
    return request.reply();
  }

  private NodeFault doubted(LockEntry entry, NodeFault fault) {
    if (fault instanceof Unknown) {
      holds.doubt(entry);
    }
    return fault;
  }
}
