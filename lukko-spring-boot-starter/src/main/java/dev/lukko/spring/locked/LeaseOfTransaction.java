package dev.lukko.spring.locked;

import dev.lukko.Lease;
import dev.lukko.LockRequest;
import org.springframework.core.Ordered;
import org.springframework.transaction.support.TransactionSynchronization;

/**
 * A lease that a transaction holds: it is not committed without the lease, and gives it back.
 *
 * @param lease the lease
 * @param shared whether others may hold it at the same time
 */
record LeaseOfTransaction(Lease lease, boolean shared) implements TransactionSynchronization {

  boolean covers(LockRequest request) {
    return lease.isValid()
        && (!shared || request.shared())
        && lease.resources().containsAll(request.resources());
  }

  /** The check is as near to the commit as can be. */
  @Override
  public int getOrder() {
    return Ordered.LOWEST_PRECEDENCE;
  }

  @Override
  public void beforeCommit(boolean readOnly) {
    lease.ensureValid();
  }

  @Override
  public void afterCompletion(int status) {
    lease.release();
  }
}
