package dev.lukko.spring.locked;

import dev.lukko.Lease;
import dev.lukko.LockRequest;
import dev.lukko.annotation.Holding;
import org.jspecify.annotations.Nullable;

/** An application without transactions. */
final class NoTransactions implements Transactions {

  @Override
  public @Nullable Lease held(LockRequest request) {
    return null;
  }

  @Override
  public Holding holding() {
    return Holding.untilReturn();
  }
}
