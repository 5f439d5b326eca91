package dev.lukko;

import org.jspecify.annotations.Nullable;

/**
 * A body that runs under a lease and gives a result.
 *
 * @param <T> the result
 * @param <X> what the body may throw beside unchecked exceptions; nothing for most lambdas
 */
@FunctionalInterface
public interface LeaseFunction<T extends @Nullable Object, X extends Throwable> {

  /** Does the work. Long work asks {@link Lease#isValid()} or listens by {@link Lease#onLost}. */
  T apply(Lease lease) throws X;
}
