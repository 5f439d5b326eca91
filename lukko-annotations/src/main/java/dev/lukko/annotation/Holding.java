package dev.lukko.annotation;

import dev.lukko.Lease;
import dev.lukko.LeaseFunction;
import dev.lukko.LockClient;
import dev.lukko.LockRequest;
import org.jspecify.annotations.Nullable;

/** How a lease that was granted is held for a call, and when it is given back. */
@FunctionalInterface
public interface Holding {

  /**
   * Runs the body, and gives the lease back when its work has ended, in each case and once.
   *
   * @param locks the client that granted the lease
   * @param request what was asked for
   * @return what the call returns
   * @throws Throwable what the body threw, unchanged
   */
  @Nullable Object run(
      LockClient locks,
      LockRequest request,
      Lease lease,
      LeaseFunction<@Nullable Object, Throwable> body)
      throws Throwable;

  /** The lease is held until the body has returned. */
  static Holding untilReturn() {
    return (locks, request, lease, body) -> new GrantedLease(locks, lease).using(request, body);
  }

  /**
   * The lease is held until the stage that the body gave has ended; the body runs in this thread. A
   * body that gives no stage is held until it has returned.
   */
  static Holding untilStageEnds() {
    return (locks, request, lease, body) ->
        new GrantedLease(locks, lease).usingAsync(request, held -> StagedBody.start(body, held));
  }
}
