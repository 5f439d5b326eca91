package dev.lukko.jdbc;

import dev.lukko.time.VirtualThreads;
import org.jspecify.annotations.Nullable;

/**
 * The choice of the requests that run in the threads of their callers. It spares two changes of
 * threads, which cost more than the node does; and it is made only if nothing else can hold the
 * caller up than the server's answer, whose end is the timer, which aborts the connection, and the
 * driver's own network timeout, for drivers that need the server in order to abort.
 *
 * <p>The databases inside this process have no such end: their calls run in the caller's stack.
 *
 * <p>Nor has an interrupt a place there. One that meets a virtual thread in a read closes the
 * socket; so virtual threads, and those that are interrupted already, leave it to the workers.
 */
final class Callers {
  private final Sessions sessions;
  private final Pace pace;

  Callers(Sessions sessions, Pace pace) {
    this.sessions = sessions;
    this.pace = pace;
  }

  /**
   * A connection for this thread's request, whose the caller is now; null if a worker is better.
   */
  @Nullable Session sessionAtHand(long patienceNanos) {
    Dialect dialect = sessions.dialect();
    boolean abortable = dialect != null && dialect.isAlwaysAServer();
    return abortable && pace.fits(patienceNanos) && fits(Thread.currentThread())
        ? sessions.takeIdle((patienceNanos + 999_999) / 1_000_000)
        : null;
  }

  private static boolean fits(Thread thread) {
    return !thread.isInterrupted() && !VirtualThreads.isVirtual(thread);
  }
}
