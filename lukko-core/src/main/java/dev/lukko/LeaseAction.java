package dev.lukko;

/**
 * A body that runs under a lease and gives no result.
 *
 * @param <X> what the body may throw beside unchecked exceptions; nothing for most lambdas
 */
@FunctionalInterface
public interface LeaseAction<X extends Throwable> {

  /** Does the work. Long work asks {@link Lease#isValid()} or listens by {@link Lease#onLost}. */
  void run(Lease lease) throws X;
}
