package dev.lukko.jdbc;

import dev.lukko.release.OwnerLanes;
import dev.lukko.spi.Failed;
import dev.lukko.spi.NodeFault;
import dev.lukko.spi.Unknown;
import dev.lukko.time.DaemonThreads;
import dev.lukko.time.Scheduler;
import dev.lukko.time.Ticker;
import dev.lukko.time.Uninterrupted;
import java.sql.SQLException;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
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
 * Runs requests on the node's few threads, or in the thread of a caller that waits anyway, each
 * with a connection of its own.
 *
 * <p>Blocking happens here and nowhere else, and all of it has an end: a request that has not been
 * answered by its deadline is given up by the timer, and its connection is aborted, whatever the
 * thread is stuck in. A caller makes one attempt on a connection that is there; what needs more
 * than that, a connection, a pause or a second attempt, is a worker's.
 */
final class Dispatcher {
  private static final System.Logger LOG = System.getLogger(Dispatcher.class.getName());
  private static final long MIN_SWEEP_NANOS = 2_000_000L;
  private static final long MAX_SWEEP_NANOS = 100_000_000L;
  private static final long MAX_BACK_OFF_MICROS = 100_000L;
  private static final int FREE_RETRIES = 2;

  private final JdbcSettings settings;
  private final Sessions sessions;
  private final Ticker ticker;
  private final Scheduler scheduler;
  private final ThreadPoolExecutor workers;
  private final Attempts attempts;
  private final Callers callers;
  private final OwnerLanes<Request<?>> lanes = new OwnerLanes<>(Request::owner);
  private final Set<Request<?>> inFlight = ConcurrentHashMap.newKeySet();
  private final AtomicInteger load = new AtomicInteger();
  private final AtomicBoolean sweeping = new AtomicBoolean();
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
    Pace pace = new Pace();
    this.attempts =
        new Attempts(
            sessions, new Reaper(sessions, scheduler, settings.idleMillis()), pace, ticker);
    this.callers = new Callers(sessions, pace);
    this.sweepNanos =
        Math.max(
            MIN_SWEEP_NANOS,
            Math.min(MAX_SWEEP_NANOS, settings.requestTimeoutMillis() * 1_000_000L / 20));
    // The queue needs no bound of its own: submit() counts. This kind lets a thread that has just
    // been idle wait for a moment before it sleeps, which is half of the price of a hand-over.
    workers =
        new ThreadPoolExecutor(
            settings.connections(),
            settings.connections(),
            settings.idleMillis(),
            TimeUnit.MILLISECONDS,
            new LinkedTransferQueue<>(),
            new DaemonThreads(threadName));
    workers.allowCoreThreadTimeOut(true);
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

  boolean isQuiet() {
    return load.get() == 0 && inFlight.isEmpty() && lanes.isEmpty() && sessions.areAllBack();
  }

  long deadline() {
    return ticker.nanoTime() + settings.requestTimeoutMillis() * 1_000_000L;
  }

  void submit(Request<?> request) {
    if (admit(request)) {
      sweepSoon();
      if (lanes.enter(request)) {
        handOver(request);
      }
    }
  }

  /**
   * The same for a caller that waits for the reply: runs the request in this thread, if a quick
   * answer can be counted on and no other request has to wait for it.
   *
   * @param patienceNanos how long the caller can be blocked
   */
  void submitInCaller(Request<?> request, long patienceNanos) {
    // With more requests than connections, a caller would only get into the way of the workers.
    Session session =
        load.get() < workers.getMaximumPoolSize() ? callers.sessionAtHand(patienceNanos) : null;
    if (session == null) {
      submit(request);
    } else if (!admit(request)) {
      sessions.giveBack(session);
    } else if (!lanes.enter(request)) {
      sessions.giveBack(session);
      sweepSoon();
    } else {
      runInCaller(request, session, patienceNanos);
    }
  }

  private <T> void runInCaller(Request<T> request, Session session, long patienceNanos) {
    long nanos = Math.min(patienceNanos, settings.requestTimeoutMillis() * 1_000_000L);
    request.endBy(ticker.nanoTime() + nanos);
    Scheduler.Timer timer =
        scheduler.schedule(
            () -> expire(request, "timeout after " + nanos / 1_000_000L + " ms"), nanos);
    T reply = null;
    NodeFault fault = null;
    try {
      request.connectInCaller(); // If it was given up already, the attempt finds that.
      reply = attempts.run(request, session);
    } catch (Again again) {
      if (request.queueAgain()) {
        sweepSoon();
        handOver(request);
        return;
      }
    } catch (GivenUp outcome) {
      fault = outcome.fault();
    } catch (RuntimeException | Error bug) {
      fault = unexpected(bug);
    } finally {
      timer.cancel();
    }
    Request<?> next = left(request);
    if (next != null) {
      handOver(next);
    }
    end(request, reply, fault);
  }

  /** Whether the request is on its way; if not, it was refused. */
  private boolean admit(Request<?> request) {
    if (isClosed()) {
      request.refuse("the node is closed");
      return false;
    }
    int limit = workers.getMaximumPoolSize() + settings.queueCapacity();
    if (load.incrementAndGet() > limit) {
      load.decrementAndGet();
      request.refuse("queue full: " + limit + " requests are on their way; not sent");
      return false;
    }
    inFlight.add(request);
    if (isClosed()) {
      // The end may have missed this one, and a caller's needs a timer, which is about to go.
      inFlight.remove(request);
      load.decrementAndGet();
      request.refuse("the node is closed");
      return false;
    }
    return true;
  }

  /** Lets a worker run what is the first of its lane. */
  private void handOver(Request<?> request) {
    try {
      workers.execute(() -> runLane(request));
    } catch (java.util.concurrent.RejectedExecutionException closing) {
      for (Request<?> next = request; next != null; next = left(next)) {
        next.refuse("the node is closed");
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
    } catch (RuntimeException | Error bug) {
      fault = unexpected(bug); // An error too: a stage that never ends would hang its caller.
    } finally {
      request.detach();
      next = left(request);
    }
    end(request, reply, fault);
    return next;
  }

  private static NodeFault unexpected(Throwable bug) {
    LOG.log(System.Logger.Level.ERROR, "a request failed in an unexpected way", bug);
    return new Unknown(Attempts.describe(bug), bug);
  }

  private static <T> void end(Request<T> request, @Nullable T reply, @Nullable NodeFault fault) {
    if (request.end()) {
      if (fault != null) {
        request.publish(fault);
      } else if (reply != null) {
        request.publish(reply);
      }
    }
  }

  /** The reply; null if the request was given up meanwhile by the timer. */
  private <T> @Nullable T perform(Request<T> request) throws GivenUp {
    for (int attempt = 1; ; attempt++) {
      SQLException conflict = null;
      Session session = connect(request);
      if (session != null) {
        try {
          return attempts.run(request, session);
        } catch (Again again) {
          conflict = again.conflict();
        }
      }
      if (!backOff(request, attempt)) {
        String why = conflict == null ? "rows changed meanwhile" : Attempts.describe(conflict);
        throw new GivenUp(new Failed("gave up after " + attempt + " attempts: " + why, conflict));
      }
    }
  }

  /** A connection; null if getting one failed in a way that is worth another attempt. */
  private @Nullable Session connect(Request<?> request) throws GivenUp {
    try {
      return sessions.take(request.deadlineNanos() - ticker.nanoTime());
    } catch (InterruptedException given) {
      throw new GivenUp(new Failed("all connections of the node are busy; not sent", given));
    } catch (SQLException | RuntimeException | Error failure) {
      Dialect dialect = sessions.dialect();
      if (dialect != null
          && failure instanceof SQLException answer
          && dialect.traits().isConflict(answer)) {
        return null;
      }
      throw new GivenUp(new Failed(Attempts.describe(failure), failure));
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
    boolean interrupt = dialect != null && dialect.isAlwaysAServer();
    request.expire(request.verb() + ": " + why, interrupt);
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
    CompletableFuture<Void> closed = new CompletableFuture<>();
    scheduler.execute(
        () -> {
          try {
            sessions.close();
          } finally {
            closed.complete(null);
          }
        });
    return Uninterrupted.await(closed, millis * 1_000_000L);
  }

  /**
   * Whether no worker is left, and no caller inside. An interrupt does not shorten the wait: it
   * would cut off the last releases. Its flag is kept.
   */
  private boolean ended(long millis) {
    long end = ticker.nanoTime() + millis * 1_000_000L;
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return workers.awaitTermination(end - ticker.nanoTime(), TimeUnit.NANOSECONDS)
              && sessions.awaitReturn(end - ticker.nanoTime());
        } catch (InterruptedException later) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
