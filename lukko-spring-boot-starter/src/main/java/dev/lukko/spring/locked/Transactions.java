package dev.lukko.spring.locked;

import dev.lukko.Lease;
import dev.lukko.LockRequest;
import dev.lukko.annotation.Holding;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/** What a transaction that runs in this thread means for a lock. */
interface Transactions {

  /** A lease that the running transaction holds and that covers the request, or null. */
  @Nullable Lease held(LockRequest request);

  /** How to hold a lease now: to the end of the running transaction, if there is one. */
  Holding holding();

  /** Those of Spring, where the application has any. */
  static Transactions find() {
    String manager = "org.springframework.transaction.support.TransactionSynchronizationManager";
    return ClassUtils.isPresent(manager, Transactions.class.getClassLoader())
        ? new SpringTransactions()
        : new NoTransactions();
  }
}
