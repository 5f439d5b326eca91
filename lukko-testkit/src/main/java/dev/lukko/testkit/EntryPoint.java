package dev.lukko.testkit;

import dev.lukko.Lease;
import dev.lukko.LockClient;
import dev.lukko.LockRequest;
import java.util.NoSuchElementException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/**
 * A way into a {@link LockClient}, so that one scenario can be run through each of them.
 *
 * <p>The blocking ones run in a thread of their own. {@link #call} returns when the call has been
 * decided or waits for something.
 */
public enum EntryPoint {
  /** {@link LockClient#acquire(LockRequest)}. */
  ACQUIRE {
    @Override
    void run(LockClient client, LockRequest request, LockCall call) throws Exception {
      holdUntilTold(client.acquire(request), call);
    }
  },
  /** {@link LockClient#tryAcquire(LockRequest)}; without a wait of its own it makes one round. */
  TRY_ACQUIRE {
    @Override
    void run(LockClient client, LockRequest request, LockCall call) throws Exception {
      holdUntilTold(
          client
              .tryAcquire(request)
              .orElseThrow(() -> new NoSuchElementException("tryAcquire gave empty")),
          call);
    }
  },
  /** {@link LockClient#using(LockRequest, dev.lukko.LeaseFunction)}. */
  USING {
    @Override
    void run(LockClient client, LockRequest request, LockCall call) throws Exception {
      client.using(
          request,
          lease -> {
            call.granted(lease);
            return get(call.body());
          });
    }
  },
  /** {@link LockClient#run(LockRequest, dev.lukko.LeaseAction)}. */
  RUN {
    @Override
    void run(LockClient client, LockRequest request, LockCall call) throws Exception {
      client.run(
          request,
          lease -> {
            call.granted(lease);
            get(call.body());
          });
    }
  },
  /** {@link LockClient#acquireAsync(LockRequest)}. */
  ACQUIRE_ASYNC {
    @Override
    void run(LockClient client, LockRequest request, LockCall call) {
      CompletableFuture<Lease> future = client.acquireAsync(request);
      call.cancelBy(() -> future.cancel(false));
      future.whenComplete(
          (lease, failure) -> {
            if (failure != null) {
              call.failed(failure);
            } else {
              // Before the grant is told: the body then ends, and the lease is closed, in the
              // thread
              // of the test, and never in one of a node, which must not wait.
              call.body().whenComplete((value, end) -> close(lease, call, end));
              call.granted(lease);
            }
          });
    }
  },
  /** {@link LockClient#usingAsync(LockRequest, java.util.function.Function)}. */
  USING_ASYNC {
    @Override
    void run(LockClient client, LockRequest request, LockCall call) {
      CompletableFuture<String> future =
          client.usingAsync(
              request,
              lease -> {
                call.granted(lease);
                return call.body();
              });
      call.cancelBy(() -> future.cancel(false));
      future.whenComplete(
          (value, failure) -> {
            if (failure != null) {
              call.failed(failure);
            } else {
              call.ended();
            }
          });
    }
  };

  /** Whether the caller's thread waits, so that a call is ended by an interrupt. */
  public boolean isBlocking() {
    return this != ACQUIRE_ASYNC && this != USING_ASYNC;
  }

  /** Whether a body runs under the lease, which is then extended in the background by default. */
  public boolean hasBody() {
    return this == USING || this == RUN || this == USING_ASYNC;
  }

  /** Makes a call that takes the lock and holds it until it is told to end. */
  public LockCall call(LockClient client, LockRequest request) {
    LockCall call = new LockCall(this);
    Runnable work =
        () -> {
          try {
            run(client, request, call);
            if (isBlocking()) {
              call.ended();
            }
          } catch (Throwable failure) {
            call.failed(failure);
          }
        };
    if (isBlocking()) {
      call.runIn(new Thread(work, "call-" + name()));
    } else {
      work.run();
    }
    return call;
  }

  abstract void run(LockClient client, LockRequest request, LockCall call) throws Exception;

  private static void holdUntilTold(Lease lease, LockCall call) throws Exception {
    try (lease) {
      call.granted(lease);
      get(call.body());
    }
  }

  private static void close(Lease lease, LockCall call, Throwable end) {
    try {
      lease.close();
    } catch (RuntimeException failure) {
      call.failed(end == null ? failure : end);
      return;
    }
    if (end == null) {
      call.ended();
    } else {
      call.failed(end);
    }
  }

  static <T> T get(CompletableFuture<T> future) throws Exception {
    try {
      return future.get();
    } catch (ExecutionException failure) {
      throw failure.getCause() instanceof Exception cause ? cause : failure;
    }
  }

  static Throwable unwrap(Throwable failure) {
    return failure instanceof CompletionException && failure.getCause() != null
        ? failure.getCause()
        : failure;
  }
}
