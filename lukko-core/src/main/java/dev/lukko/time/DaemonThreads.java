package dev.lukko.time;

import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Makes the daemon threads of a client, a node or a queue.
 *
 * <p>A thread of a pool is made in whichever thread happens to need one, and serves all others
 * later. So it inherits no thread-locals: the tenant, the user or the transaction of that moment
 * would decide where the requests of everybody go. Its context class loader is that of the thread
 * that has made the factory.
 */
public final class DaemonThreads implements ThreadFactory {
  private final String prefix;
  private final AtomicInteger number = new AtomicInteger();
  private final ClassLoader loader = Thread.currentThread().getContextClassLoader();

  /** Threads named {@code prefix-1}, {@code prefix-2} and so on. */
  public DaemonThreads(String prefix) {
    this.prefix = prefix;
  }

  @Override
  public Thread newThread(Runnable task) {
    Thread thread = new Thread(null, task, prefix + "-" + number.incrementAndGet(), 0, false);
    thread.setDaemon(true);
    thread.setContextClassLoader(loader);
    return thread;
  }
}
