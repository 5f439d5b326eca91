package dev.lukko.annotation;

import dev.lukko.Lease;
import dev.lukko.LeaseFunction;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** A body that gives a stage, and may throw before it does. */
final class StagedBody {
  private StagedBody() {}

  static CompletionStage<@Nullable Object> start(
      LeaseFunction<@Nullable Object, Throwable> body, Lease lease) {
    try {
      return of(body.apply(lease));
    } catch (Throwable failure) {
      return CompletableFuture.failedFuture(failure);
    }
  }

  /** What was given, if it is a stage, and otherwise one that has it. */
  @SuppressWarnings("unchecked") // Every stage is one of objects.
  static CompletionStage<@Nullable Object> of(@Nullable Object given) {
    return given instanceof CompletionStage<?> stage
        ? (CompletionStage<@Nullable Object>) stage
        : CompletableFuture.completedFuture(given);
  }
}
