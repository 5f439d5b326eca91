package dev.lukko;

import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** How {@code using} ends: who sees which exception, and when the lease goes back. */
final class Using {
  private Using() {}

  static <T extends @Nullable Object, X extends Throwable> T call(
      LockClient client, LockRequest request, LeaseFunction<T, X> body) throws X {
    return callUnder(client.acquire(request.withDefaultAutoExtend(true)), request, body);
  }

  /** Gives false, and does not call the body, if the lock is held by another. */
  static <X extends Throwable> boolean tryCall(
      LockClient client, LockRequest request, LeaseAction<X> body) throws X {
    Optional<Lease> lease = client.tryAcquire(request.withDefaultAutoExtend(true));
    if (lease.isEmpty()) {
      return false;
    }
    callUnder(lease.get(), request, withoutResult(body));
    return true;
  }

  private static <T extends @Nullable Object, X extends Throwable> T callUnder(
      Lease lease, LockRequest request, LeaseFunction<T, X> body) throws X {
    T value;
    LossInterrupt interrupt = LossInterrupt.arm(lease, request);
    try {
      value = body.apply(lease);
    } catch (Throwable failure) {
      interrupt.disarm(failure);
      finishFailed(lease, failure);
      throw failure;
    }
    interrupt.disarm();
    lease.release();
    LeaseLostException lost = lossOf(lease, value);
    if (lost != null) {
      throw lost;
    }
    return value;
  }

  @SuppressWarnings("NullAway") // It does not see that the type argument is nullable here.
  static <X extends Throwable> LeaseFunction<@Nullable Void, X> withoutResult(LeaseAction<X> body) {
    return new LeaseFunction<>() {
      @Override
      public @Nullable Void apply(Lease lease) throws X {
        body.run(lease);
        return null;
      }
    };
  }

  static <T extends @Nullable Object> CompletableFuture<T> callAsync(
      LockClient client,
      LockRequest request,
      Function<? super Lease, ? extends CompletionStage<T>> body) {
    CompletableFuture<Lease> acquiring = client.acquireAsync(request.withDefaultAutoExtend(true));
    CompletableFuture<T> result = new CompletableFuture<>();
    result.whenComplete(
        (value, failure) -> {
          acquiring.cancel(false); // Without effect unless the result was ended from outside.
        });
    acquiring.whenComplete(
        (lease, failure) -> {
          if (failure != null) {
            result.completeExceptionally(unwrap(failure));
          } else if (result.isDone()) {
            lease.releaseAsync();
          } else {
            runAsync(lease, body, result);
          }
        });
    return result;
  }

  private static <T extends @Nullable Object> void runAsync(
      Lease lease,
      Function<? super Lease, ? extends CompletionStage<T>> body,
      CompletableFuture<T> result) {
    CompletionStage<T> stage;
    try {
      stage = Objects.requireNonNull(body.apply(lease), "the stage that the body gave");
    } catch (Throwable failure) {
      stage = CompletableFuture.failedFuture(failure);
    }
    stage.whenComplete(
        (value, bodyFailure) -> {
          lease
              .releaseAsync()
              .whenComplete(
                  (outcome, releaseFailure) -> {
                    LeaseLostException lost = lossOf(lease, value);
                    if (bodyFailure != null) {
                      Throwable cause = unwrap(bodyFailure);
                      suppress(cause, lost);
                      suppress(cause, outcome == null ? null : failedRelease(lease, outcome));
                      result.completeExceptionally(cause);
                    } else if (lost != null) {
                      result.completeExceptionally(lost);
                    } else {
                      result.complete(value);
                    }
                  });
        });
  }

  private static void finishFailed(Lease lease, Throwable failure) {
    ReleaseOutcome outcome = lease.release();
    suppress(failure, lossOf(lease, null));
    suppress(failure, failedRelease(lease, outcome));
  }

  /**
   * The loss, if the lease was lost before its release or found lost by it; judged after the
   * release.
   */
  private static @Nullable LeaseLostException lossOf(Lease lease, @Nullable Object value) {
    try {
      lease.ensureValid();
      return null;
    } catch (LeaseLostException lost) {
      if (lost.reason() == LossReason.RELEASED) {
        return null; // It was held to the end.
      }
      return value == null ? lost : lost.withValue(value);
    }
  }

  private static @Nullable LockException failedRelease(Lease lease, ReleaseOutcome outcome) {
    return outcome.status() == ReleaseOutcome.Status.UNKNOWN
        ? new LockException(
            "release of " + lease.resources() + " could not be confirmed: " + outcome.describe())
        : null;
  }

  private static void suppress(Throwable failure, @Nullable Throwable other) {
    if (other != null && other != failure) {
      failure.addSuppressed(other);
    }
  }

  static Throwable unwrap(Throwable failure) {
    Throwable cause = failure.getCause();
    return failure instanceof CompletionException && cause != null ? cause : failure;
  }
}
