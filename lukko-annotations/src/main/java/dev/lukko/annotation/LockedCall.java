package dev.lukko.annotation;

import dev.lukko.Lease;
import dev.lukko.LeaseFunction;
import dev.lukko.LockBusyException;
import dev.lukko.LockClient;
import dev.lukko.LockRequest;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A call under a lock: the part of an interceptor that is the same in every framework.
 *
 * <p>What comes of taking the lock and what the body throws are kept apart: a body that meets a
 * busy lock of its own is not taken for one that was skipped.
 */
public final class LockedCall {
  private final LockClient locks;
  private final LockRequest request;
  private final BusyAnswer whenBusy;

  /**
   * A call.
   *
   * @param locks where the lock is taken
   * @param request what to take
   * @param whenBusy what the call returns if another holds it
   */
  public LockedCall(LockClient locks, LockRequest request, BusyAnswer whenBusy) {
    this.locks = locks;
    this.request = request;
    this.whenBusy = whenBusy;
  }

  /**
   * Takes the lock in this thread and runs the body, for methods that return a value.
   *
   * @throws dev.lukko.LockNotAcquiredException if there is no lease; the body was not run
   * @throws Throwable what the body threw, unchanged
   */
  public @Nullable Object run(Holding holding, LeaseFunction<@Nullable Object, Throwable> body)
      throws Throwable {
    Lease lease;
    try {
      lease = locks.acquire(request);
    } catch (LockBusyException busy) {
      return whenBusy.answer(busy);
    }
    return holding.run(locks, request, lease, body);
  }

  /**
   * The same for methods that return a stage: nothing is thrown, and the lease is held until the
   * stage has ended. What is answered in place of the body may be a stage, or the value of one.
   */
  public CompletableFuture<@Nullable Object> runStaged(
      LeaseFunction<@Nullable Object, Throwable> body) {
    try {
      Object given = run(Holding.untilStageEnds(), body);
      return StagedBody.of(given).toCompletableFuture();
    } catch (Throwable failure) {
      return CompletableFuture.failedFuture(failure);
    }
  }
}
