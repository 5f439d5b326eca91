package dev.lukko.redlock;

import dev.lukko.time.Ticker;
import org.jspecify.annotations.Nullable;

/**
 * How long the thread of a blocking call can be used by a node that it asks: for one question to
 * the only node of a client, and no longer than the round may last.
 *
 * <p>Several nodes are never asked so, since the first could keep the others from being asked. Nor
 * is a thread that does anything else than wait: of a timer, a driver, or an asynchronous caller.
 */
record Patience(Ticker ticker, long untilNanos) {

  /** The patience of a blocking call whose round begins now; null if its thread cannot be used. */
  static @Nullable Patience ofCaller(Context context, long roundNanos) {
    return context.nodes.size() == 1
        ? new Patience(context.ticker, context.ticker.nanoTime() + roundNanos)
        : null;
  }

  /** What is left; zero or less if it is used up. */
  long leftNanos() {
    return untilNanos - ticker.nanoTime();
  }
}
