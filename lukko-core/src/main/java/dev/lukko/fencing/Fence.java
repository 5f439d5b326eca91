package dev.lukko.fencing;

import dev.lukko.Lease;

/**
 * The guard of a resource: it knows the highest fencing token that each resource has seen and
 * refuses every lower one.
 *
 * <p>By default a token that equals the highest passes, since one holder may write several times. A
 * <i>strict</i> fence accepts each token for one write only.
 *
 * <p><b>Contact counts.</b> A holder that only reads must {@link #touch} too. Otherwise this can
 * happen: the new holder (34) reads, the paused one (33) wakes up and writes, and its write is
 * accepted since 34 has left no trace; what 34 then writes rests on a value that is gone.
 *
 * <p><b>A check is as good as its distance from the write.</b> Between a check and a write that is
 * a separate step a higher token can get in. The implementations say how they make both one step:
 * {@link InMemoryFence#run} in one JVM, the fences of the stores in the store's own transaction or
 * script.
 *
 * <p>Implementations are thread-safe. A resource name has 1 to 255 characters, none of them a
 * control character; a token is positive. Anything else is an {@link IllegalArgumentException}
 * before any I/O.
 */
public interface Fence {

  /**
   * Returns if a write with this token may go on, and remembers the token.
   *
   * @throws StaleTokenException if the resource has seen a higher token, or, on a strict fence, has
   *     accepted a write with this one
   */
  void check(String resource, long token);

  /**
   * Returns if the token is not stale, and remembers it without counting as a write: for a read.
   *
   * @throws StaleTokenException if the resource has seen a higher token
   */
  void touch(String resource, long token);

  /**
   * {@link #check(String, long) Checks} all resources of a lease with its token. The lease itself
   * is not asked whether it is valid: the fence is what decides when its holder is mistaken about
   * that.
   *
   * @throws StaleTokenException for the first resource, in the order of the names, that refuses it.
   *     Resources before that one may have remembered the token, which is harmless: it was theirs
   */
  default void check(Lease lease) {
    for (String resource : lease.resources()) {
      check(resource, lease.fencingToken());
    }
  }

  /**
   * {@link #touch(String, long) Touches} all resources of a lease with its token.
   *
   * @throws StaleTokenException for the first resource, in the order of the names, that refuses it
   */
  default void touch(Lease lease) {
    for (String resource : lease.resources()) {
      touch(resource, lease.fencingToken());
    }
  }
}
