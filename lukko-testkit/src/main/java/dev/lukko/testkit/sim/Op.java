package dev.lukko.testkit.sim;

import java.util.List;
import java.util.Locale;

/**
 * What a contender does next.
 *
 * @param contender which one
 * @param thinkNanos how long it waits before
 * @param resources what it locks
 * @param manner how it behaves as a holder
 * @param ttlNanos the ttl it asks for
 * @param waitNanos its wait budget, or {@link #BY_RETRIES}
 * @param holdNanos how long it holds, or how long it waits before it changes its mind
 * @param shared whether it is content with a reader's hold
 * @param fair whether it stands in line with the waiters of other clients
 */
record Op(
    int contender,
    long thinkNanos,
    List<String> resources,
    Manner manner,
    long ttlNanos,
    long waitNanos,
    long holdNanos,
    boolean shared,
    boolean fair) {

  /** No wait budget: the client counts retries. */
  static final long BY_RETRIES = -1;

  /** How many. */
  static final int RETRIES = 3;

  /** How a contender behaves. */
  enum Manner {
    /** Writes, holds a little, writes, releases. */
    BRIEF,
    /** Writes once more at the very end of the validity. */
    TO_THE_END,
    /** Extends by hand. */
    EXTENDING,
    /** Is extended in the background. */
    AUTOMATIC,
    /** Never releases. */
    FORGETFUL,
    /** Its process dies while it holds. */
    DYING,
    /** Cancels the call, perhaps in the moment of the grant. */
    FICKLE
  }

  @Override
  public String toString() {
    return String.format(
        Locale.ROOT,
        "contender %d after %.3f ms: %s%s%s on %s, ttl %.0f ms, waits %s, holds %.3f ms",
        contender,
        thinkNanos / 1e6,
        manner,
        shared ? " shared" : "",
        fair ? " fair" : "",
        String.join("+", resources),
        ttlNanos / 1e6,
        waitNanos == BY_RETRIES
            ? "for " + RETRIES + " retries"
            : String.format(Locale.ROOT, "%.1f ms", waitNanos / 1e6),
        holdNanos / 1e6);
  }
}
