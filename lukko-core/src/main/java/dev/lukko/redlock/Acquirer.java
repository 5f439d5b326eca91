package dev.lukko.redlock;

import org.jspecify.annotations.Nullable;

/**
 * Who made an acquiring call: for advice and reports only, ownership never rests on it.
 *
 * @param thread the name and number of a thread that waited for the call, or null for an
 *     asynchronous one
 * @param trace where the call was made, if the client keeps that
 */
record Acquirer(@Nullable Identity thread, @Nullable Throwable trace) {

  static final Acquirer NOBODY = new Acquirer(null, null);

  /** A caller that blocks the present thread. */
  static Acquirer blocking(boolean withTrace) {
    Thread current = Thread.currentThread();
    return new Acquirer(new Identity(threadId(current), current.getName()), traceOrNull(withTrace));
  }

  /** A caller that goes on. */
  static Acquirer asynchronous(boolean withTrace) {
    return withTrace ? new Acquirer(null, traceOrNull(true)) : NOBODY;
  }

  private static @Nullable Throwable traceOrNull(boolean withTrace) {
    return withTrace ? new Throwable("acquired here") : null;
  }

  @SuppressWarnings("deprecation") // Its successor came after Java 17.
  private static long threadId(Thread thread) {
    return thread.getId();
  }

  /** A thread, without keeping it alive. */
  record Identity(long id, String name) {}
}
