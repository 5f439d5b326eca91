package dev.lukko.redlock;

import java.security.SecureRandom;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.DoubleSupplier;

/**
 * Where a client's chance comes from.
 *
 * @param owners makes owner values unguessable
 * @param jitter spreads retries; numbers from 0 (inclusive) to 1 (exclusive)
 */
record Entropy(SecureRandom owners, DoubleSupplier jitter) {

  /** The system's: secure where it matters, fast where it does not. */
  static Entropy system() {
    return new Entropy(new SecureRandom(), () -> ThreadLocalRandom.current().nextDouble());
  }

  /** Both from one source, so that a run can be repeated. */
  static Entropy of(SecureRandom source) {
    return new Entropy(source, source::nextDouble);
  }
}
