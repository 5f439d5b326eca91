package dev.lukko.postgres;

import dev.lukko.ClientClosedException;
import dev.lukko.ClientHealth;
import dev.lukko.LockEvent;
import dev.lukko.LockException;
import dev.lukko.LockReport;
import dev.lukko.LockReport.NodeEntries;
import dev.lukko.LockRequest;
import dev.lukko.lease.Events;
import dev.lukko.text.Printable;
import dev.lukko.time.Callbacks;
import dev.lukko.time.Scheduler;
import dev.lukko.time.Ticker;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** The inside of a client: its parts, its one session, and its end. */
final class AdvisoryEngine implements Context {
  private static final System.Logger LOG = System.getLogger(AdvisoryEngine.class.getName());

  private static final String NODE = "postgresql";

  private final PostgresSchema schema;
  private final String namespace;
  private final String description;
  private final Duration maxWait;
  private final Duration nodeTimeout;
  private final long retryDelayNanos;
  private final long retryJitterNanos;
  private final LockKey.Maker keys;
  private final Ticker ticker;
  private final Scheduler scheduler;
  private final boolean ownsScheduler;
  private final Callbacks.ClosableExecutor callbacks;
  private final Events events;
  private final Waiters waiters = new Waiters();
  private final Holds holds;
  private final SessionOpener opener;
  private final ReleaseListener releases;
  private final TransactionLocks transactionLocks;

  private final ReentrantLock opening = new ReentrantLock();
  private volatile @Nullable AdvisorySession session;
  private volatile boolean closed;

  AdvisoryEngine(PostgresAdvisoryLocks.Builder settings) {
    PgConnector.Opening open = settings.opening;
    if (open == null) {
      throw new IllegalArgumentException("neither url nor dataSource is set; one is needed");
    }
    schema = settings.schema;
    namespace = settings.namespace;
    description = settings.description;
    maxWait = settings.maxWait;
    nodeTimeout = settings.nodeTimeout;
    retryDelayNanos = settings.retryDelay.toNanos();
    retryJitterNanos = settings.retryJitter.toNanos();
    keys = settings.keys;
    ticker = settings.ticker;
    ownsScheduler = settings.scheduler == null;
    scheduler =
        settings.scheduler == null ? Scheduler.create("lukko-postgres") : settings.scheduler;
    callbacks =
        Callbacks.neverRefusing(
            settings.callbackExecutor == null ? scheduler.callbacks() : settings.callbackExecutor,
            "lukko-postgres-rescue");
    events = new Events(settings.listeners, callbacks);
    holds = new Holds(scheduler, callbacks, ticker, events, waiters, settings.probeInterval);
    PgConnector connector = new PgConnector(open, new PgConnector.Bounded(scheduler), nodeTimeout);
    opener =
        new SessionOpener(
            connector,
            schema,
            nodeTimeout,
            applicationName(description),
            ticker,
            new PlatformCalls(scheduler, nodeTimeout.multipliedBy(4)),
            scheduler);
    releases = new ReleaseListener(connector, scheduler, waiters);
    transactionLocks = new TransactionLocks(schema.name(), ticker);
  }

  private static String applicationName(String description) {
    String name = "lukko " + description;
    return name.length() <= 63 ? name : name.substring(0, 63);
  }

  void openFirstSession() {
    try {
      session();
    } catch (SQLException failure) {
      String state = failure.getSQLState();
      if (state == null || state.startsWith("08") || state.startsWith("57P")) {
        LOG.log(
            System.Logger.Level.WARNING,
            "the server cannot be reached yet: {0}",
            Printable.of(String.valueOf(failure.getMessage())));
        return;
      }
      close();
      throw new LockException("the server refused the session", failure);
    } catch (RuntimeException unsuitable) {
      close();
      throw unsuitable;
    }
  }

  Attempt attempt(LockRequest request) {
    if (request.fair()) {
      throw new IllegalArgumentException(
          "fair is true; advisory locks cannot queue fairly without holding a transaction open");
    }
    if (closed) {
      throw new ClientClosedException(
          "the client is closed; lock " + request.resources() + " was not asked for");
    }
    return new Attempt(
        this, request, keysOf(request.resources()), request.maxWait().orElse(maxWait));
  }

  LockReport inspect(String resource) {
    LockKey key = keysOf(List.of(resource)).get(0);
    requireOpen();
    NodeEntries entries;
    try {
      entries =
          new NodeEntries(
              NODE,
              true,
              session().holdersOf(key).stream().map(AdvisoryEngine::entry).toList(),
              OptionalLong.empty(),
              "");
    } catch (SQLException | LockException failure) {
      entries = NodeEntries.silent(NODE, String.valueOf(failure.getMessage()));
    }
    return new LockReport(resource, List.of(entries));
  }

  private static LockReport.Entry entry(HolderRow row) {
    return new LockReport.Entry(row.toHolder(), Integer.toString(row.pid()));
  }

  ClientHealth health() {
    requireOpen();
    long startNanos = ticker.nanoTime();
    ClientHealth.Node node;
    try {
      session().probe();
      node =
          new ClientHealth.Node(
              NODE,
              ClientHealth.State.VOTING,
              Optional.of(Duration.ofNanos(ticker.nanoTime() - startNanos)),
              "",
              List.of());
    } catch (SQLException | LockException failure) {
      node =
          new ClientHealth.Node(
              NODE,
              failure instanceof UnsuitableDatabaseException
                  ? ClientHealth.State.INCOMPATIBLE
                  : ClientHealth.State.UNREACHABLE,
              Optional.empty(),
              String.valueOf(failure.getMessage()),
              List.of());
    }
    return new ClientHealth(List.of(node));
  }

  private void requireOpen() {
    if (closed) {
      throw new ClientClosedException("the client is closed; the server is not asked");
    }
  }

  List<LockKey> keysOf(Collection<String> names) {
    if (names.size() == 1) {
      return List.of(keys.of(namespace, check(names.iterator().next())));
    }
    List<LockKey> sorted =
        TransactionLocks.sorted(
            names.stream()
                .map(AdvisoryEngine::check)
                .map(name -> keys.of(namespace, name))
                .toList());
    for (int i = 1; i < sorted.size(); i++) {
      LockKey one = sorted.get(i - 1);
      LockKey other = sorted.get(i);
      if (one.lock() == other.lock()) {
        throw new LockNameCollisionException(one.qualified(), other.qualified(), one.lock());
      }
    }
    if (sorted.isEmpty()) {
      throw new IllegalArgumentException("names is empty; it must have at least one");
    }
    return sorted;
  }

  private static String check(String name) {
    if (name == null
        || name.isEmpty()
        || name.length() > LockRequest.MAX_NAME_LENGTH
        || name.chars().anyMatch(Character::isISOControl)) {
      throw new IllegalArgumentException(
          "name is \""
              + name
              + "\"; it must have 1 to "
              + LockRequest.MAX_NAME_LENGTH
              + " characters and no control characters");
    }
    return name;
  }

  TransactionLocks transactionLocks() {
    return transactionLocks;
  }

  Duration maxWait() {
    return maxWait;
  }

  @Override
  public Scheduler scheduler() {
    return scheduler;
  }

  @Override
  public Executor callbacks() {
    return callbacks;
  }

  @Override
  public Ticker ticker() {
    return ticker;
  }

  @Override
  public Events events() {
    return events;
  }

  @Override
  public Holds holds() {
    return holds;
  }

  @Override
  public Waiters waiters() {
    return waiters;
  }

  @Override
  public boolean isClosed() {
    return closed;
  }

  @Override
  public long retryDelayNanos() {
    return retryDelayNanos
        + (retryJitterNanos == 0 ? 0 : ThreadLocalRandom.current().nextLong(retryJitterNanos));
  }

  @Override
  public void listenForReleases() {
    releases.ensureRunning();
  }

  @Override
  public Hold.Terms terms(LockRequest request, List<LockKey> locked, boolean contended) {
    return new Hold.Terms(
        locked,
        request.shared(),
        contended,
        new Hold.Identity(
            ticker.wallInstant(),
            description,
            Thread.currentThread().getName(),
            request.metadata()),
        Scheduler.toNanosSaturated(request.ttl()),
        request.maxHold().map(Scheduler::toNanosSaturated).orElse(Long.MAX_VALUE));
  }

  @Override
  public AdvisorySession session() throws SQLException {
    AdvisorySession current = session;
    if (current != null && !current.isEnded()) {
      return current;
    }
    if (!BoundedWait.lock(opening, nodeTimeout.toNanos() * 2)) {
      throw new SQLTimeoutException("another thread is still opening the session", "08001");
    }
    try {
      current = session;
      if (current != null && !current.isEnded()) {
        return current;
      }
      if (closed) {
        throw new ClientClosedException("the client is closed");
      }
      AdvisorySession opened = opener.open(this::sessionEnded);
      session = opened;
      state(true, "session in server process " + opened.opened().pid());
      return opened;
    } finally {
      opening.unlock();
    }
  }

  private void sessionEnded(AdvisorySession ended, SQLException cause) {
    state(false, String.valueOf(cause.getMessage()));
    holds.sessionEnded(ended);
  }

  private void state(boolean available, String detail) {
    if (events.isHeard()) {
      events.emit(() -> new LockEvent.NodeStateChanged(NODE, available, detail));
    }
  }

  void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    for (Attempt attempt : List.copyOf(waiters.pending())) {
      attempt.fail(attempt.closed());
    }
    holds.close(nodeTimeout);
    releases.close();
    if (BoundedWait.lock(opening, nodeTimeout.toNanos() * 2)) {
      try {
        AdvisorySession current = session;
        if (current != null) {
          current.close();
        }
      } finally {
        opening.unlock();
      }
    }
    if (ownsScheduler) {
      scheduler.close();
    }
    callbacks.close();
  }

  @Override
  public String toString() {
    return "[schema " + schema + ", namespace " + namespace + "]";
  }
}
