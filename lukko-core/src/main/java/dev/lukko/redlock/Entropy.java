package dev.lukko.redlock;

import java.security.SecureRandom;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Where a client's chance comes from.
 *
 * @param owners the source of owner values in a simulation; null for the system's, which copies of
 *     this process do not share
 * @param jitter spreads retries; numbers from 0 (inclusive) to 1 (exclusive)
 */
record Entropy(@Nullable SecureRandom owners, DoubleSupplier jitter) {

  /** The system's: secure where it matters, fast where it does not. */
  static Entropy system() {
    return new Entropy(null, () -> ThreadLocalRandom.current().nextDouble());
  }

  /** Both from one source, so that a run can be repeated. */
  static Entropy of(SecureRandom source) {
    return new Entropy(source, source::nextDouble);
  }
}
