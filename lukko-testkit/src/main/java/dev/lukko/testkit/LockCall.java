package dev.lukko.testkit;

import dev.lukko.ClientClosedException;
import dev.lukko.Lease;
import dev.lukko.LockBusyException;
import dev.lukko.LockInterruptedException;
import dev.lukko.QuorumUnavailableException;
import dev.lukko.ValidityExhaustedException;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One call through an {@link EntryPoint}: what became of it, and the way to end it.
 *
 * <p>The critical section lasts until {@link #finish()}, {@link #finishWith} or {@link #cancel}.
 * Every method is bounded by 20 seconds.
 */
public final class LockCall {
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(20);

  private final EntryPoint entryPoint;
  private final CompletableFuture<Lease> granted = new CompletableFuture<>();
  private final CompletableFuture<String> body = new CompletableFuture<>();
  private final CompletableFuture<Optional<Throwable>> end = new CompletableFuture<>();
  private volatile boolean interruptFlagAtEnd;
  private Runnable cancel = () -> {};
  private @Nullable Thread thread;

  /** What became of a call. */
  public enum Outcome {
    /** It holds, or held, a lease. */
    GRANTED,
    /** Somebody else held the lock. */
    BUSY,
    /** No quorum of nodes could be reached. */
    UNREACHABLE,
    /** The nodes took longer than the ttl allows. */
    EXHAUSTED,
    /** It was interrupted, or its future was cancelled. */
    CANCELLED,
    /** The client was closed. */
    CLOSED,
    /** Anything else. */
    BROKEN
  }

  LockCall(EntryPoint entryPoint) {
    this.entryPoint = entryPoint;
  }

  void runIn(Thread worker) {
    thread = worker;
    cancel = worker::interrupt;
    worker.setDaemon(true);
    worker.start();
    settle();
  }

  void cancelBy(Runnable way) {
    cancel = way;
  }

  CompletableFuture<String> body() {
    return body;
  }

  void granted(Lease lease) {
    granted.complete(lease);
  }

  void ended() {
    end.complete(Optional.empty());
  }

  void failed(Throwable failure) {
    Throwable cause = EntryPoint.unwrap(failure);
    interruptFlagAtEnd = Thread.currentThread().isInterrupted();
    granted.completeExceptionally(cause);
    end.complete(Optional.of(cause));
  }

  /** The entry point of the call. */
  public EntryPoint entryPoint() {
    return entryPoint;
  }

  /** Whether the call has not been decided and waits for something. */
  public boolean isWaiting() {
    settle();
    return !granted.isDone();
  }

  /** What became of the call; waits for its decision. */
  public Outcome outcome() {
    Throwable failure = failure();
    if (failure == null) {
      return Outcome.GRANTED;
    } else if (failure instanceof LockBusyException || failure instanceof NoSuchElementException) {
      return Outcome.BUSY;
    } else if (failure instanceof QuorumUnavailableException) {
      return Outcome.UNREACHABLE;
    } else if (failure instanceof ValidityExhaustedException) {
      return Outcome.EXHAUSTED;
    } else if (failure instanceof LockInterruptedException
        || failure instanceof CancellationException) {
      return Outcome.CANCELLED;
    } else if (failure instanceof ClientClosedException) {
      return Outcome.CLOSED;
    }
    return Outcome.BROKEN;
  }

  /** Why no lease was granted; null if one was. Waits for the decision. */
  public @Nullable Throwable failure() {
    try {
      within(granted);
      return null;
    } catch (ExecutionException failure) {
      return failure.getCause();
    } catch (CancellationException cancelled) {
      return cancelled;
    }
  }

  /** The granted lease; waits for it. */
  public Lease lease() {
    Throwable failure = failure();
    if (failure != null) {
      throw new AssertionError(entryPoint + " was not granted", failure);
    }
    return granted.join();
  }

  /** Ends the critical section, and gives what the call threw at its end, if it did. */
  public Optional<Throwable> finish() {
    return finish(() -> body.complete("value"));
  }

  /** Ends the critical section by an exception, and gives what the call threw. */
  public Optional<Throwable> finishWith(Exception failure) {
    return finish(() -> body.completeExceptionally(failure));
  }

  /** Lets the critical section end, and does not wait for it. */
  public void beginToFinish() {
    body.complete("value");
    settle();
  }

  /** What the call threw at its end, if it did; waits for the end. */
  public Optional<Throwable> end() {
    try {
      return within(end);
    } catch (ExecutionException impossible) {
      throw new AssertionError(impossible);
    }
  }

  /** Whether the call has ended altogether. */
  public boolean hasEnded() {
    settle();
    return end.isDone();
  }

  /** Interrupts the call's thread, or cancels its future. */
  public void cancel() {
    cancel.run();
  }

  /** Whether the thread of a blocking call had its interrupt flag set when the call failed. */
  public boolean interruptFlagAtEnd() {
    end();
    return interruptFlagAtEnd;
  }

  private Optional<Throwable> finish(Runnable way) {
    way.run();
    return end();
  }

  private <T> T within(CompletableFuture<T> future) throws ExecutionException {
    try {
      return future.get(PATIENCE_NANOS, TimeUnit.NANOSECONDS);
    } catch (TimeoutException late) {
      AssertionError error = new AssertionError(entryPoint + " goes on waiting");
      Thread worker = thread;
      if (worker != null) {
        error.setStackTrace(worker.getStackTrace());
      }
      throw error;
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted while waiting for " + entryPoint, interrupt);
    }
  }

  /** Waits until the thread of a blocking call has come to rest. */
  private void settle() {
    Thread worker = thread;
    long startNanos = System.nanoTime();
    while (worker != null && !isAtRest(worker)) {
      if (System.nanoTime() - startNanos > PATIENCE_NANOS) {
        throw new AssertionError(entryPoint + " does not come to rest");
      }
      LockSupport.parkNanos(50_000); // Gives the core away; the state is looked at again anyhow.
    }
  }

  private static boolean isAtRest(Thread worker) {
    return switch (worker.getState()) {
      case WAITING, TIMED_WAITING, TERMINATED -> true;
      case NEW, RUNNABLE, BLOCKED -> false;
    };
  }
}
