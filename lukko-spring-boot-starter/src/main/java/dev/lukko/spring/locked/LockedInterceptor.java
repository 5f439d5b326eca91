package dev.lukko.spring.locked;

import dev.lukko.LockClient;
import dev.lukko.annotation.MethodCall;
import java.util.Objects;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.support.AopUtils;

/** Takes the locks of a method, one inside of the other, and then calls it. */
final class LockedInterceptor implements MethodInterceptor {
  private final LockedMethods methods;
  private final Supplier<LockClient> locks;
  private final Transactions transactions = Transactions.find();

  LockedInterceptor(LockedMethods methods, Supplier<LockClient> locks) {
    this.methods = methods;
    this.locks = locks;
  }

  @Override
  public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
    Object target = Objects.requireNonNull(invocation.getThis(), "a locked method needs an object");
    LockedMethod locked = methods.of(invocation.getMethod(), AopUtils.getTargetClass(target));
    LockClient client = locks.get();
    MethodCall call = new MethodCall(target, locked.method(), invocation.getArguments());
    ProxyMethodInvocation body = (ProxyMethodInvocation) invocation;
    return locked.kind() == ReturnKind.PUBLISHER
        ? new LockedPublisher(locked, client, call, body).declared()
        : new LockedRun(locked, client, call, body, transactions).run();
  }
}
