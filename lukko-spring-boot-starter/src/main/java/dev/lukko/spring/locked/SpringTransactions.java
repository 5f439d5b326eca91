package dev.lukko.spring.locked;

import static org.springframework.transaction.support.TransactionSynchronizationManager.getSynchronizations;
import static org.springframework.transaction.support.TransactionSynchronizationManager.isActualTransactionActive;
import static org.springframework.transaction.support.TransactionSynchronizationManager.isSynchronizationActive;
import static org.springframework.transaction.support.TransactionSynchronizationManager.registerSynchronization;

import dev.lukko.Lease;
import dev.lukko.LeaseFunction;
import dev.lukko.LockClient;
import dev.lukko.LockRequest;
import dev.lukko.annotation.Holding;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.support.TransactionSynchronization;

/**
 * A lock that is released before the transaction has been committed protects nothing: the next
 * holder reads what is not there yet. So a transaction that the caller has begun keeps the lease to
 * its end.
 */
final class SpringTransactions implements Transactions {

  @Override
  public @Nullable Lease held(LockRequest request) {
    if (!isOpen()) {
      return null;
    }
    for (TransactionSynchronization synchronization : getSynchronizations()) {
      if (synchronization instanceof LeaseOfTransaction held && held.covers(request)) {
        return held.lease();
      }
    }
    return null;
  }

  @Override
  public Holding holding() {
    return isOpen() ? SpringTransactions::toItsEnd : Holding.untilReturn();
  }

  /** Not while the end of one is reported: what is registered then hears of no end. */
  private static boolean isOpen() {
    return isActualTransactionActive() && isSynchronizationActive();
  }

  private static @Nullable Object toItsEnd(
      LockClient locks,
      LockRequest request,
      Lease lease,
      LeaseFunction<@Nullable Object, Throwable> body)
      throws Throwable {
    try {
      registerSynchronization(new LeaseOfTransaction(lease, request.shared()));
    } catch (Throwable unregistered) {
      lease.release();
      throw unregistered;
    }
    Object value = body.apply(lease);
    lease.ensureValid();
    return value;
  }
}
