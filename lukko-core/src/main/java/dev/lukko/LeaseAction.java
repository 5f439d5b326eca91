package dev.lukko;

/**
 * A body that runs under a lease and gives no result.
 *
 * @param <X> the checked exception that the body may throw; none for most lambdas
 */
@FunctionalInterface
public interface LeaseAction<X extends Exception> {

  /** Does the work. Long work asks {@link Lease#isValid()} or listens by {@link Lease#onLost}. */
  void run(Lease lease) throws X;
}
