package dev.lukko.scorecard.client;

import java.util.Optional;

/**
 * A lock library, as a client process uses it. It is never closed: the process ends with what it
 * holds.
 */
interface Locks {

  /** A lock that was granted. */
  interface Held {
    void unlock() throws Exception;

    /** What the library says of whether this is still held; empty if it has no such question. */
    default Optional<Boolean> isHeld() throws Exception {
      return Optional.empty();
    }

    /** The fencing token; empty if the library has none. */
    default Optional<Long> token() {
      return Optional.empty();
    }
  }

  /** Tries once, without waiting; empty if somebody else has it. */
  Optional<Held> tryLock(String name) throws Exception;

  /** Waits for the lock; {@link UnsupportedOperationException} if the library has no such call. */
  default Optional<Held> lock(String name, long waitMillis) throws Exception {
    throw new UnsupportedOperationException();
  }
}
