package dev.lukko.lease;

import dev.lukko.LossReason;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The loss of one lease, as its holder hears of it: every callback once, one after the other in the
 * order of their registration, then the stage. Nothing is called after a release.
 *
 * <p>Its lock guards the state alone; no callback is called inside it.
 */
public final class LossSignal {
  private static final System.Logger LOG = System.getLogger(LossSignal.class.getName());

  private final Executor threads;
  private @Nullable Queue<Consumer<? super LossReason>> callbacks;
  private @Nullable CompletableFuture<LossReason> stage;
  private @Nullable LossReason reason;
  private @Nullable CompletableFuture<Void> told;
  private @Nullable Thread teller;
  private boolean telling;
  private boolean released;

  /**
   * A signal that has not been given.
   *
   * @param threads where callbacks run; never refuses
   */
  public LossSignal(Executor threads) {
    this.threads = threads;
  }

  /** Whether somebody is to hear of a loss, though nobody may refer to the lease any more. */
  public synchronized boolean isAwaited() {
    return stage != null || (callbacks != null && !callbacks.isEmpty());
  }

  /** Registers a callback; after the loss it is called at once, after a release never. */
  public void add(Consumer<? super LossReason> callback) {
    synchronized (this) {
      if (released) {
        return;
      }
      if (callbacks == null) {
        callbacks = new ArrayDeque<>(1);
      }
      callbacks.add(callback);
      if (reason == null || telling) {
        return;
      }
      telling = true;
    }
    threads.execute(this::tell);
  }

  /** The loss as a stage, which ends after the callbacks. */
  public synchronized CompletionStage<LossReason> stage() {
    if (stage == null) {
      stage =
          reason == null
              ? new CompletableFuture<>()
              : CompletableFuture.completedFuture(reason); // Nobody depends on it yet.
    }
    return stage.minimalCompletionStage();
  }

  /** Tells of the loss. */
  public void give(LossReason why) {
    synchronized (this) {
      if (released || reason != null) {
        return;
      }
      reason = why;
      if (!isAwaited()) {
        return;
      }
      telling = true;
    }
    threads.execute(this::tell);
  }

  /** The lease was released: there will be no loss. */
  public synchronized void release() {
    released = true;
    callbacks = null;
  }

  /**
   * Ends when nobody is left to be told; at once for a callback that asks, since it would wait for
   * itself.
   */
  public synchronized CompletableFuture<Void> told() {
    if (!telling || teller == Thread.currentThread()) {
      return CompletableFuture.completedFuture(null);
    }
    if (told == null) {
      told = new CompletableFuture<>();
    }
    return told;
  }

  private void tell() {
    synchronized (this) {
      teller = Thread.currentThread();
    }
    for (Consumer<? super LossReason> next = next(); next != null; next = next()) {
      call(next);
    }
  }

  private void call(Consumer<? super LossReason> callback) {
    LossReason why;
    synchronized (this) {
      why = reason;
    }
    try {
      callback.accept(why);
    } catch (Throwable failure) {
      LOG.log(System.Logger.Level.ERROR, "a callback for the loss of a lease failed", failure);
    }
  }

  /** The next callback; after the last one, the stage, which is told as a callback is. */
  private @Nullable Consumer<? super LossReason> next() {
    CompletableFuture<Void> ended;
    synchronized (this) {
      Consumer<? super LossReason> next = callbacks == null ? null : callbacks.poll();
      if (next != null) {
        return next;
      }
      if (stage != null && !stage.isDone()) {
        return stage::complete;
      }
      telling = false;
      teller = null;
      ended = told;
      told = null;
    }
    if (ended != null) {
      ended.complete(null);
    }
    return null;
  }
}
