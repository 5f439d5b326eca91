package dev.lukko.jdbc;

import dev.lukko.spi.Failed;
import dev.lukko.spi.NodeFault;
import dev.lukko.spi.Unknown;
import java.sql.SQLException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One request on its way: who waits for it, how far it has come, and when it is given up.
 *
 * <p>The phase decides what may be said when time is up: what was not sent has certainly not been
 * applied. It also decides whose the session is: whoever ends the phase {@code SENT}.
 */
final class Request<T> {
  /** What to do with a session; null if what was read did not fit together, to be tried again. */
  interface Work<T> {
    @Nullable T run(Session session) throws SQLException;
  }

  private enum Phase {
    QUEUED,
    CONNECTING,
    SENT,
    DONE
  }

  private final String verb;
  private final @Nullable String owner;
  private final Work<T> work;
  private final Function<NodeFault, T> fault;
  private volatile long deadlineNanos;
  private final AtomicReference<Phase> phase = new AtomicReference<>(Phase.QUEUED);
  private final CompletableFuture<T> reply = new CompletableFuture<>();
  private volatile @Nullable Session session;
  private @Nullable Thread worker;

  /**
   * A request.
   *
   * @param owner whose requests run one after the other, or null
   * @param fault makes a reply of a failure, or throws what the reply fails with
   */
  Request(
      String verb,
      @Nullable String owner,
      Work<T> work,
      Function<NodeFault, T> fault,
      long deadlineNanos) {
    this.verb = verb;
    this.owner = owner;
    this.work = work;
    this.fault = fault;
    this.deadlineNanos = deadlineNanos;
  }

  String verb() {
    return verb;
  }

  @Nullable String owner() {
    return owner;
  }

  CompletableFuture<T> reply() {
    return reply;
  }

  long deadlineNanos() {
    return deadlineNanos;
  }

  @Nullable T attempt(Session on) throws SQLException {
    return work.run(on);
  }

  /** Moves the deadline, for a request that has not begun. */
  void endBy(long nanos) {
    deadlineNanos = nanos;
  }

  /** Whether the request still waits to be sent, and now looks for a connection. */
  boolean connect() {
    synchronized (this) {
      worker = Thread.currentThread();
    }
    return phase.compareAndSet(Phase.QUEUED, Phase.CONNECTING);
  }

  /** The same in a caller's thread, which has a connection, and is never interrupted by us. */
  void connectInCaller() {
    phase.compareAndSet(Phase.QUEUED, Phase.CONNECTING);
  }

  /** Whether the request waits again, for a thread that makes another attempt. */
  boolean queueAgain() {
    return phase.compareAndSet(Phase.CONNECTING, Phase.QUEUED);
  }

  /** Whether the request is still wanted; then it has this session. */
  boolean send(Session on) {
    session = on;
    return phase.compareAndSet(Phase.CONNECTING, Phase.SENT);
  }

  /** Whether the session is the caller's again, after an answer. */
  boolean answered() {
    return phase.compareAndSet(Phase.SENT, Phase.CONNECTING);
  }

  private synchronized void interrupt() {
    if (worker != null) {
      worker.interrupt();
    }
  }

  /** Lets the thread go: an interrupt that came for this request ends with it. */
  synchronized void detach() {
    worker = null;
    Thread.interrupted();
  }

  /** Ends the request; the reply is not passed on before {@link #publish}. */
  boolean end() {
    return phase.getAndSet(Phase.DONE) != Phase.DONE;
  }

  void publish(T value) {
    reply.complete(value);
  }

  void publish(NodeFault value) {
    T mapped;
    try {
      mapped = fault.apply(value);
    } catch (RuntimeException failure) {
      reply.completeExceptionally(failure);
      return;
    }
    reply.complete(mapped);
  }

  /** Gives up if nothing has been sent. */
  void refuse(String detail) {
    if (phase.compareAndSet(Phase.QUEUED, Phase.DONE)) {
      publish(new Failed(detail));
    }
  }

  /**
   * Gives up, however far the request has come.
   *
   * @param interrupt whether a thread that waits for a connection can be interrupted
   */
  void expire(String why, boolean interrupt) {
    switch (phase.getAndSet(Phase.DONE)) {
      case QUEUED -> publish(new Failed(why + ": all connections of the node are busy; not sent"));
      case CONNECTING -> {
        if (interrupt) {
          interrupt();
        }
        publish(new Failed(why + ": no connection, or conflicts only; not applied"));
      }
      case SENT -> {
        Session stuck = session;
        if (stuck != null) {
          stuck.abort();
        }
        publish(new Unknown(why + ": the server has not answered"));
      }
      case DONE -> {}
    }
  }
}
