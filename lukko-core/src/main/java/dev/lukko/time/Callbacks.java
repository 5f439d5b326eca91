package dev.lukko.time;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * How code of a caller's is run: callbacks, listeners, bodies, and the dependent stages of futures.
 * Never in a thread on which timers or answers of nodes depend.
 */
public final class Callbacks {
  private Callbacks() {}

  /**
   * An executor that hands tasks to another, and runs what that one refuses in threads of a
   * scheduler made for it: an executor that is full, shut down or broken delays a task, and loses
   * none.
   *
   * @param first takes the tasks; what it throws counts as a refusal
   * @param name the prefix of the names of the threads that run what was refused
   */
  public static ClosableExecutor neverRefusing(Executor first, String name) {
    return new RescueExecutor(first, name);
  }

  /**
   * An executor that runs its tasks one after the other, in the order in which they were given, in
   * threads of another.
   *
   * @param threads what runs them; it must not refuse
   */
  public static Executor inOrder(Executor threads) {
    return new SerialExecutor(threads);
  }

  /**
   * A future to hand out that ends as another does. Its dependent stages run in the executor, or in
   * the thread that adds them, and never in the one that ended the other future.
   */
  public static <T> CompletableFuture<T> handOut(CompletionStage<T> inner, Executor executor) {
    CompletableFuture<T> handedOut = new CompletableFuture<>();
    CompletableFuture<T> future = inner.toCompletableFuture();
    if (future.isDone()) {
      relay(future, handedOut); // Nobody depends on it yet.
    } else {
      future.whenComplete((value, failure) -> executor.execute(() -> relay(future, handedOut)));
    }
    return handedOut;
  }

  /**
   * The same for a future whose early end, by a cancellation for example, ends the other. What the
   * other gives in spite of it is not wanted any more.
   *
   * @param unwanted takes such a value back
   */
  public static <T> CompletableFuture<T> handOut(
      CompletableFuture<T> inner, Executor executor, Consumer<? super T> unwanted) {
    CompletableFuture<T> handedOut = handOut(inner, executor);
    if (!handedOut.isDone()) {
      handedOut.whenComplete(
          (given, failure) -> {
            inner.cancel(false); // Without effect on one that has ended.
            inner.thenAccept(
                value -> {
                  if (value != given) {
                    unwanted.accept(value);
                  }
                });
          });
    }
    return handedOut;
  }

  private static <T> void relay(CompletableFuture<T> ended, CompletableFuture<T> handedOut) {
    ended.whenComplete(
        (value, failure) -> {
          if (failure != null) {
            handedOut.completeExceptionally(failure);
          } else {
            handedOut.complete(value);
          }
        });
  }

  /** An executor with threads of its own, which end with it. */
  public interface ClosableExecutor extends Executor, AutoCloseable {
    @Override
    void close();
  }
}
