package dev.lukko.mongodb;

import dev.lukko.release.CreatingRequest;
import dev.lukko.spi.Failed;
import dev.lukko.spi.NodeFault;
import dev.lukko.spi.Unknown;
import dev.lukko.time.Scheduler.Timer;
import dev.lukko.time.Ticker;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One request on its way: who waits for it, how far it has come, and when it is given up.
 *
 * <p>The phase decides what may be said when time is up: what has not written anything has
 * certainly not been applied, and does not write later either.
 *
 * @param <T> the reply
 */
final class Call<T> implements CreatingRequest {
  /** What a thread does for it. */
  interface Work<T> {
    T run(Call<?> call);
  }

  private enum Phase {
    QUEUED,
    READING,
    WRITING,
    DONE
  }

  private final String verb;
  private final @Nullable String owner;
  private final Work<T> work;
  private final Function<NodeFault, T> fault;
  private final Ticker ticker;
  private final long deadlineNanos;
  private final AtomicReference<Phase> phase = new AtomicReference<>(Phase.QUEUED);
  private final CompletableFuture<T> reply = new CompletableFuture<>();
  private volatile @Nullable Timer timer;

  /** Whether nothing of it can come to the server any more. */
  private volatile boolean answered;

  private boolean written;

  /**
   * A call.
   *
   * @param owner whose calls run one after the other, or null
   * @param fault makes a reply of a failure, or throws what the reply fails with
   */
  Call(
      String verb,
      @Nullable String owner,
      Work<T> work,
      Function<NodeFault, T> fault,
      Ticker ticker,
      long timeoutNanos) {
    this.verb = verb;
    this.owner = owner;
    this.work = work;
    this.fault = fault;
    this.ticker = ticker;
    this.deadlineNanos = ticker.nanoTime() + timeoutNanos;
  }

  @Nullable String owner() {
    return owner;
  }

  boolean isRelease() {
    return verb.equals(MongoNode.RELEASE);
  }

  CompletableFuture<T> reply() {
    return reply;
  }

  void endedBy(Timer ending) {
    timer = ending;
    if (phase.get() == Phase.DONE) {
      ending.cancel();
    }
  }

  /**
   * How long it may still take, in milliseconds.
   *
   * @throws GivenUpException if that is over
   */
  long leftMillis() {
    long left = (deadlineNanos - ticker.nanoTime()) / 1_000_000L;
    if (left <= 0 || phase.get() == Phase.DONE) {
      throw new GivenUpException();
    }
    return left;
  }

  /**
   * Something is about to be written.
   *
   * @throws GivenUpException if it must not be any more
   */
  void writing() {
    if (!phase.compareAndSet(Phase.READING, Phase.WRITING) && phase.get() != Phase.WRITING) {
      throw new GivenUpException();
    }
  }

  /** What was sent last has been applied. */
  void wrote() {
    written = true;
  }

  /** What was sent last has certainly not been applied, or what was is taken back. */
  void notWritten(boolean takenBack) {
    written = written && !takenBack;
    if (!written) {
      phase.compareAndSet(Phase.WRITING, Phase.READING);
    }
  }

  /** Runs it in this thread. */
  void run() {
    if (!phase.compareAndSet(Phase.QUEUED, Phase.READING)) {
      answered = true;
      return;
    }
    T value = null;
    NodeFault failure = null;
    try {
      value = work.run(this);
    } catch (GivenUpException over) {
      answered = true; // Whatever was written was answered, or this would be another exception.
      failure = written ? new Unknown(timedOut()) : new Failed(timedOut() + "; not applied");
    } catch (RuntimeException | Error failed) {
      boolean sent = written || phase.get() == Phase.WRITING;
      failure = Faults.of(failed, sent, written);
    }
    answered = answered || !(failure instanceof Unknown);
    if (phase.getAndSet(Phase.DONE) != Phase.DONE) {
      if (failure != null) {
        publish(failure);
      } else if (value != null) {
        publish(value);
      }
    }
  }

  private String timedOut() {
    return verb + ": timeout";
  }

  /** Gives up if nothing has been sent; whether it had not. */
  void refuse(String detail) {
    if (phase.compareAndSet(Phase.QUEUED, Phase.DONE)) {
      answered = true;
      publish(new Failed(detail));
    }
  }

  /** Gives up, however far it has come. */
  void expire(String why) {
    String what = verb + ": " + why;
    switch (phase.getAndSet(Phase.DONE)) {
      case QUEUED -> {
        answered = true;
        publish(new Failed(what + ": all threads of the node are busy; not sent"));
      }
      case READING -> publish(new Failed(what + ": the server has not answered; not applied"));
      case WRITING -> publish(new Unknown(what + ": the server has not answered"));
      case DONE -> {}
    }
  }

  private void publish(T value) {
    cancelTimer();
    reply.complete(value);
  }

  private void publish(NodeFault failure) {
    cancelTimer();
    T mapped;
    try {
      mapped = fault.apply(failure);
    } catch (RuntimeException thrown) {
      reply.completeExceptionally(thrown);
      return;
    }
    reply.complete(mapped);
  }

  private void cancelTimer() {
    Timer ending = timer;
    if (ending != null) {
      ending.cancel();
    }
  }

  @Override
  public boolean isAnswered() {
    return answered;
  }

  /** Connections are the driver's, and nobody knows which one a request has taken. */
  @Override
  public boolean mayFollow(Object connection) {
    return !answered;
  }

  @Override
  public void withdraw() {
    Phase before = phase.get();
    while ((before == Phase.QUEUED || before == Phase.READING)
        && !phase.compareAndSet(before, Phase.DONE)) {
      before = phase.get();
    }
    if (before == Phase.QUEUED || before == Phase.READING) {
      answered = true; // It writes nothing any more.
      publish(new Failed(Failed.WITHDRAWN + ": by the release of its own owner"));
    }
  }
}
