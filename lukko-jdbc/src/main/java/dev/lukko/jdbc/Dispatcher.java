package dev.lukko.jdbc;

import dev.lukko.spi.Failed;
import dev.lukko.spi.NodeFault;
import dev.lukko.spi.Unknown;
import dev.lukko.time.Scheduler;
import dev.lukko.time.Ticker;
import java.sql.SQLException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Runs requests on the node's few threads, each with a connection of its own.
 *
 * <p>Blocking happens here and nowhere else, and all of it has an end: a request that has not been
 * answered by its deadline is given up by the timer, and its connection is aborted, whatever the
 * thread is stuck in.
 */
final class Dispatcher {
  private static final System.Logger LOG = System.getLogger(Dispatcher.class.getName());
  private static final long MIN_SWEEP_NANOS = 2_000_000L;
  private static final long MAX_SWEEP_NANOS = 100_000_000L;
  private static final long MAX_BACK_OFF_MICROS = 100_000L;
  private static final int FREE_RETRIES = 2;
  private static final int DEFAULT_CONNECTIONS = 4;

  private final JdbcSettings settings;
  private final Sessions sessions;
  private final Ticker ticker;
  private final Scheduler scheduler;
  private final ThreadPoolExecutor workers;
  private final OwnerLanes lanes = new OwnerLanes();
  private final Set<Request<?>> inFlight = ConcurrentHashMap.newKeySet();
  private final AtomicInteger load = new AtomicInteger();
  private final AtomicBoolean sweeping = new AtomicBoolean();
  private final AtomicBoolean reaping = new AtomicBoolean();
  private final CountDownLatch stop = new CountDownLatch(1);
  private final long sweepNanos;

  Dispatcher(
      String threadName,
      JdbcSettings settings,
      Sessions sessions,
      Ticker ticker,
      Scheduler scheduler) {
    this.settings = settings;
    this.sessions = sessions;
    this.ticker = ticker;
    this.scheduler = scheduler;
    this.sweepNanos =
        Math.max(
            MIN_SWEEP_NANOS,
            Math.min(MAX_SWEEP_NANOS, settings.requestTimeoutMillis() * 1_000_000L / 20));
    AtomicInteger number = new AtomicInteger();
    // The queue needs no bound of its own: submit() counts. This kind lets a thread that has just
    // been idle wait for a moment before it sleeps, which is half of the price of a hand-over.
    workers =
        new ThreadPoolExecutor(
            connections(settings),
            connections(settings),
            settings.idleMillis(),
            TimeUnit.MILLISECONDS,
            new LinkedTransferQueue<>(),
            task -> {
              Thread thread = new Thread(task, threadName + "-" + number.incrementAndGet());
              thread.setDaemon(true);
              return thread;
            });
    workers.allowCoreThreadTimeOut(true);
  }

  private static int connections(JdbcSettings settings) {
    return settings.maxConnections() > 0 ? settings.maxConnections() : DEFAULT_CONNECTIONS;
  }

  /** Adjusts the number of threads to the database, now that it may be known. */
  void fit() {
    if (settings.maxConnections() == 0 && sessions.dialect() == Dialect.SQLITE) {
      workers.setCorePoolSize(1);
      workers.setMaximumPoolSize(1);
    }
  }

  boolean isClosed() {
    return stop.getCount() == 0;
  }

  long deadline() {
    return ticker.nanoTime() + settings.requestTimeoutMillis() * 1_000_000L;
  }

  void submit(Request<?> request) {
    if (isClosed()) {
      request.refuse("the node is closed");
      return;
    }
    int limit = workers.getMaximumPoolSize() + settings.queueCapacity();
    if (load.incrementAndGet() > limit) {
      load.decrementAndGet();
      request.refuse("queue full: " + limit + " requests are on their way; not sent");
      return;
    }
    inFlight.add(request);
    sweepSoon();
    if (lanes.enter(request)) {
      try {
        workers.execute(() -> runLane(request));
      } catch (java.util.concurrent.RejectedExecutionException closing) {
        for (Request<?> next = request; next != null; next = left(next)) {
          next.refuse("the node is closed");
        }
      }
    }
  }

  private @Nullable Request<?> left(Request<?> request) {
    Request<?> next = lanes.leave(request);
    inFlight.remove(request);
    load.decrementAndGet();
    return next;
  }

  private void runLane(Request<?> first) {
    for (Request<?> request = first; request != null; ) {
      request = run(request);
    }
  }

  private <T> @Nullable Request<?> run(Request<T> request) {
    T reply = null;
    NodeFault fault = null;
    Request<?> next;
    try {
      if (request.connect()) {
        reply = perform(request);
      }
    } catch (GivenUp outcome) {
      fault = outcome.fault();
    } catch (RuntimeException bug) {
      LOG.log(System.Logger.Level.ERROR, "a request failed in an unexpected way", bug);
      fault = new Unknown(describe(bug), bug);
    } finally {
      request.detach();
      next = left(request);
    }
    if (request.end()) {
      if (fault != null) {
        request.publish(fault);
      } else if (reply != null) {
        request.publish(reply);
      }
    }
    return next;
  }

  /** The reply; null if the request was given up meanwhile by the timer. */
  private <T> @Nullable T perform(Request<T> request) throws GivenUp {
    for (int attempt = 1; ; attempt++) {
      SQLException conflict = null;
      Session session = connect();
      if (session != null) {
        if (!request.send(session)) {
          sessions.giveBack(session);
          return null;
        }
        try {
          T reply = request.attempt(session);
          if (!request.answered()) {
            sessions.discard(session);
            return null;
          }
          keep(session);
          if (reply != null) {
            return reply;
          }
        } catch (SQLException | RuntimeException failure) {
          conflict = judged(session, request, failure);
        }
      }
      if (!backOff(request, attempt)) {
        String why = conflict == null ? "rows changed meanwhile" : describe(conflict);
        throw new GivenUp(new Failed("gave up after " + attempt + " attempts: " + why, conflict));
      }
    }
  }

  /** A connection; null if getting one failed in a way that is worth another attempt. */
  private @Nullable Session connect() throws GivenUp {
    try {
      return sessions.take();
    } catch (SQLException | RuntimeException failure) {
      Dialect dialect = sessions.dialect();
      if (dialect != null
          && failure instanceof SQLException answer
          && dialect.traits().isConflict(answer)) {
        return null;
      }
      throw new GivenUp(new Failed(describe(failure), failure));
    }
  }

  /** A failure that is worth another attempt; all others end the request. */
  private SQLException judged(Session session, Request<?> request, Exception failure)
      throws GivenUp {
    boolean certain = failure instanceof SQLException answer && session.traits().isCertain(answer);
    boolean known = certain || !session.isInDoubt();
    if (!request.answered() || !certain) {
      sessions.discard(session);
    } else {
      keep(session);
    }
    if (!known) {
      throw new GivenUp(new Unknown(describe(failure), failure));
    }
    if (failure instanceof SQLException answer && session.traits().isConflict(answer)) {
      return answer;
    }
    throw new GivenUp(new Failed(describe(failure), failure));
  }

  private void keep(Session session) {
    sessions.giveBack(session);
    if (reaping.compareAndSet(false, true)) {
      reapLater();
    }
  }

  /** Whether there is another attempt: after a random, growing pause, and inside the deadline. */
  private boolean backOff(Request<?> request, int attempt) {
    if (attempt <= FREE_RETRIES) {
      return !isClosed();
    }
    long upper = Math.min(MAX_BACK_OFF_MICROS, 1_000L << Math.min(attempt - FREE_RETRIES, 10));
    long micros = ThreadLocalRandom.current().nextLong(upper / 2, upper + 1);
    long left = request.deadlineNanos() - ticker.nanoTime();
    if (left <= micros * 1_000L) {
      return false;
    }
    try {
      return !stop.await(micros, TimeUnit.MICROSECONDS);
    } catch (InterruptedException given) {
      return false; // The timer has given the request up.
    }
  }

  private void sweepSoon() {
    if (!sweeping.get() && sweeping.compareAndSet(false, true)) {
      scheduler.schedule(this::sweep, sweepNanos);
    }
  }

  private void sweep() {
    long now = ticker.nanoTime();
    for (Request<?> request : inFlight) {
      if (now - request.deadlineNanos() >= 0) {
        expire(request, "timeout after " + settings.requestTimeoutMillis() + " ms");
      }
    }
    if (!inFlight.isEmpty()) {
      scheduler.schedule(this::sweep, sweepNanos);
      return;
    }
    sweeping.set(false);
    if (!inFlight.isEmpty()) {
      sweepSoon();
    }
  }

  private void expire(Request<?> request, String why) {
    // Databases inside this process work on files, which an interrupt closes for everybody.
    Dialect dialect = sessions.dialect();
    boolean interrupt = dialect == Dialect.POSTGRES || dialect == Dialect.MYSQL;
    request.expire(request.verb() + ": " + why, scheduler::execute, interrupt);
  }

  private void reapLater() {
    scheduler.schedule(
        () -> scheduler.execute(this::reap), settings.idleMillis() * 1_000_000L / 2 + 1);
  }

  private void reap() {
    sessions.closeIdle();
    if (sessions.hasIdle()) {
      reapLater();
      return;
    }
    reaping.set(false);
    if (sessions.hasIdle() && reaping.compareAndSet(false, true)) {
      reapLater();
    }
  }

  /**
   * Ends everything: what waits is refused, releases excepted; what runs has the grace to end; then
   * connections are aborted.
   */
  void close(long graceMillis) {
    stop.countDown();
    for (Request<?> request : inFlight) {
      if (!request.verb().equals(JdbcNode.RELEASE)) {
        request.refuse("the node is closed");
      }
    }
    workers.shutdown();
    boolean ended = ended(graceMillis);
    if (!ended) {
      for (Request<?> request : inFlight) {
        expire(request, "the node is closed");
      }
    }
    if (!ended || !closedPolitely(graceMillis)) {
      sessions.abort();
    }
    if (!ended && !ended(graceMillis)) {
      workers.shutdownNow();
    }
  }

  private boolean closedPolitely(long millis) {
    CountDownLatch closed = new CountDownLatch(1);
    scheduler.execute(
        () -> {
          sessions.close();
          closed.countDown();
        });
    return awaited(closed, millis);
  }

  private static boolean awaited(CountDownLatch latch, long millis) {
    try {
      return latch.await(millis, TimeUnit.MILLISECONDS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private boolean ended(long millis) {
    try {
      return workers.awaitTermination(millis, TimeUnit.MILLISECONDS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  static String describe(Throwable failure) {
    String text = failure.getClass().getSimpleName() + ": " + failure.getMessage();
    return failure instanceof SQLException sql && sql.getSQLState() != null
        ? text + " [" + sql.getSQLState() + "]"
        : text;
  }

  /** The end of a request that has no reply of its own. */
  private static final class GivenUp extends Exception {
    private static final long serialVersionUID = 1L;
    private final transient NodeFault fault;

    GivenUp(NodeFault fault) {
      super(fault.detail(), fault.cause(), false, false);
      this.fault = fault;
    }

    NodeFault fault() {
      return fault;
    }
  }
}
