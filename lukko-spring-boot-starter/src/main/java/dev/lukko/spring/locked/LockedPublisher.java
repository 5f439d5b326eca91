package dev.lukko.spring.locked;

import dev.lukko.Lease;
import dev.lukko.LockClient;
import dev.lukko.annotation.MethodCall;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.aop.ProxyMethodInvocation;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * One call of a method that gives a publisher: the method is called for each subscriber, under the
 * locks that it has taken.
 *
 * @param locked the method
 * @param client where its locks are taken
 * @param call what the caller gave
 * @param body what is inside of the locks
 */
record LockedPublisher(
    LockedMethod locked, LockClient client, MethodCall call, ProxyMethodInvocation body) {

  /** What the caller gets, of the type that the method declares. */
  Object declared() {
    return Publishers.declared(type(), Flux.defer(() -> from(0, null)));
  }

  private Class<?> type() {
    return locked.method().getReturnType();
  }

  private Publisher<?> from(int index, @Nullable Lease innermost) {
    if (index == locked.steps().size()) {
      return called(innermost);
    }
    LockStep step = locked.steps().get(index);
    return Publishers.locked(
        type(),
        client,
        step.settings().request(call),
        step.whenBusy().apply(call),
        lease -> from(index + 1, lease));
  }

  private Publisher<?> called(@Nullable Lease lease) {
    @Nullable Object[] arguments =
        lease == null || locked.parameters().isEmpty()
            ? call.arguments()
            : locked.parameters().with(lease, call.arguments());
    try {
      return Publishers.of(type(), body.invocableClone(arguments.clone()).proceed());
    } catch (Throwable thrown) {
      return Mono.error(thrown);
    }
  }
}
