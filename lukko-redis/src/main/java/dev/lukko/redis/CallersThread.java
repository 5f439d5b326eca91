package dev.lukko.redis;

import io.netty.util.concurrent.FastThreadLocal;
import java.util.function.Supplier;

/**
 * Calls of the driver's that leave nothing of its own in the caller's thread. Netty keeps its
 * thread-locals in a map of a class of its own; a thread that outlives the application, such as one
 * of a container's, would hold all classes of the application by it.
 */
final class CallersThread {

  private CallersThread() {}

  /** Calls; whatever the thread had of Netty's before, stays. */
  static <T> T keptClean(Supplier<T> call) {
    boolean clean = FastThreadLocal.size() == 0;
    try {
      return call.get();
    } finally {
      if (clean) {
        FastThreadLocal.removeAll();
      }
    }
  }
}
