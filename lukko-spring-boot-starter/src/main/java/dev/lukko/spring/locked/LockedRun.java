package dev.lukko.spring.locked;

import dev.lukko.Lease;
import dev.lukko.LeaseFunction;
import dev.lukko.LockClient;
import dev.lukko.LockRequest;
import dev.lukko.annotation.Holding;
import dev.lukko.annotation.LockedCall;
import dev.lukko.annotation.MethodCall;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;

/**
 * One call of a method that gives a value or a stage, on its way through the method's locks.
 *
 * @param locked the method
 * @param client where its locks are taken
 * @param call what the caller gave
 * @param body what is inside of the locks
 * @param transactions those that may keep the leases
 */
record LockedRun(
    LockedMethod locked,
    LockClient client,
    MethodCall call,
    ProxyMethodInvocation body,
    Transactions transactions) {

  @Nullable Object run() throws Throwable {
    return from(0);
  }

  @SuppressWarnings("NullAway") // It does not see that the type argument is nullable here.
  private @Nullable Object from(int index) throws Throwable {
    if (index == locked.steps().size()) {
      return body.proceed();
    }
    LockStep step = locked.steps().get(index);
    LockRequest request = step.settings().request(call);
    LockedCall taking = new LockedCall(client, request, step.whenBusy().apply(call));
    LeaseFunction<@Nullable Object, Throwable> inside = lease -> under(lease, index + 1);
    if (locked.kind() == ReturnKind.STAGE) {
      return taking.runStaged(inside);
    }
    if (locked.ownTransaction()) {
      return taking.run(Holding.untilReturn(), inside);
    }
    Lease held = transactions.held(request);
    return held == null ? taking.run(transactions.holding(), inside) : inside.apply(held);
  }

  private @Nullable Object under(Lease lease, int next) throws Throwable {
    if (!locked.parameters().isEmpty()) {
      body.setArguments(locked.parameters().with(lease, call.arguments()));
    }
    return from(next);
  }
}
