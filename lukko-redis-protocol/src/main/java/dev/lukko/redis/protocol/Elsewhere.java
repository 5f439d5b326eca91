package dev.lukko.redis.protocol;

import dev.lukko.time.Scheduler;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/**
 * Runs outside of the driver's threads what may take time there: making a connection reads files,
 * resolves names and loads classes, and the thread that a reply came in serves all locks of the
 * process.
 */
final class Elsewhere {
  private Elsewhere() {}

  /** Begins something there; the stage fails if that does. */
  static <T> CompletableFuture<T> begin(
      Scheduler threads, Supplier<? extends CompletionStage<? extends T>> work) {
    CompletableFuture<T> result = new CompletableFuture<>();
    threads.execute(
        () -> {
          try {
            var unused =
                work.get()
                    .whenComplete(
                        (value, error) -> {
                          if (error == null) {
                            result.complete(value);
                          } else {
                            result.completeExceptionally(error);
                          }
                        });
          } catch (RuntimeException e) { // the driver was shut down
            result.completeExceptionally(e);
          }
        });
    return result;
  }
}
