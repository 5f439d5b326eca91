package dev.lukko.spring.locked;

import dev.lukko.Lease;
import dev.lukko.LeaseLostException;
import dev.lukko.LockBusyException;
import dev.lukko.LockClient;
import dev.lukko.LockRequest;
import dev.lukko.LossReason;
import dev.lukko.annotation.BusyAnswer;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Publishers under a lock: each subscriber takes it anew, without a blocked thread, and it is
 * released when the publisher has ended or the subscriber has gone.
 */
final class Publishers {
  private Publishers() {}

  /** What the method returns, of the type that it declares. */
  static Object declared(Class<?> type, Publisher<?> publisher) {
    return adapter(type).fromPublisher(publisher);
  }

  /** What a body gave; nothing is a publisher of nothing. */
  static Publisher<?> of(Class<?> type, @Nullable Object given) {
    if (given == null) {
      return Flux.empty();
    }
    return type.isInstance(given) ? adapter(type).toPublisher(given) : Mono.just(given);
  }

  private static ReactiveAdapter adapter(Class<?> type) {
    ReactiveAdapter adapter = ReactiveAdapterRegistry.getSharedInstance().getAdapter(type);
    if (adapter == null) {
      throw new IllegalStateException(type.getName() + " is no type of a publisher");
    }
    return adapter;
  }

  static Publisher<?> locked(
      Class<?> type,
      LockClient locks,
      LockRequest request,
      BusyAnswer whenBusy,
      Function<Lease, Publisher<?>> body) {
    if (adapter(type).isMultiValue()) {
      return Flux.defer(
          () -> {
            CompletableFuture<Lease> acquiring = locks.acquireAsync(request);
            return Flux.<Object, Object>usingWhen(
                    outcome(acquiring),
                    outcome -> run(type, outcome, whenBusy, body),
                    Publishers::released,
                    (outcome, failure) -> released(outcome, failure),
                    Publishers::abandoned)
                .doFinally(end -> takeBack(acquiring));
          });
    }
    return Mono.defer(
        () -> {
          CompletableFuture<Lease> acquiring = locks.acquireAsync(request);
          return Mono.<Object, Object>usingWhen(
                  outcome(acquiring),
                  outcome -> Mono.from(run(type, outcome, whenBusy, body)),
                  Publishers::released,
                  (outcome, failure) -> released(outcome, failure),
                  Publishers::abandoned)
              .doFinally(end -> takeBack(acquiring));
        });
  }

  /** The lease, or that it is busy; a busy lock of the body's own is not among these. */
  private static Mono<Object> outcome(CompletableFuture<Lease> acquiring) {
    return Mono.fromFuture(acquiring)
        .cast(Object.class)
        .onErrorResume(LockBusyException.class, Mono::just);
  }

  private static Publisher<?> run(
      Class<?> type, Object outcome, BusyAnswer whenBusy, Function<Lease, Publisher<?>> body) {
    if (outcome instanceof Lease lease) {
      return body.apply(lease);
    }
    try {
      return of(type, whenBusy.answer((LockBusyException) outcome));
    } catch (Throwable thrown) {
      return Mono.error(thrown);
    }
  }

  private static Mono<Void> released(Object outcome) {
    return outcome instanceof Lease lease
        ? Mono.fromFuture(lease.releaseAsync()).then(Mono.fromRunnable(() -> requireHeld(lease)))
        : Mono.empty();
  }

  private static void requireHeld(Lease lease) {
    try {
      lease.ensureValid();
    } catch (LeaseLostException lost) {
      if (lost.reason() != LossReason.RELEASED) {
        throw lost;
      }
    }
  }

  /** The failure stays the one that the subscriber sees. */
  private static Mono<Void> released(Object outcome, Throwable failure) {
    return released(outcome)
        .onErrorResume(
            lost -> {
              failure.addSuppressed(lost);
              return Mono.empty();
            });
  }

  private static Mono<Void> abandoned(Object outcome) {
    return outcome instanceof Lease lease
        ? Mono.fromFuture(lease.releaseAsync()).then()
        : Mono.empty();
  }

  /** A lease that arrived when nobody waited for it any more has no other way back. */
  private static void takeBack(CompletableFuture<Lease> acquiring) {
    acquiring.cancel(false);
    acquiring.thenAccept(Lease::releaseAsync);
  }
}
