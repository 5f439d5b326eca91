package dev.lukko.redis;

import dev.lukko.time.DaemonThreads;
import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.resource.ClientResources;
import io.netty.util.HashedWheelTimer;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The driver's threads and timer: one set for all nodes of a process, ended with the last node. */
final class SharedResources {
  private static final int IO_THREADS = 2;
  private static final int TICK_MILLIS = 10;
  private static final int QUIET_MILLIS = 0;
  private static final int SHUTDOWN_MILLIS = 2_000;

  private static @Nullable SharedResources current;
  private static int users;

  private final HashedWheelTimer timer =
      new HashedWheelTimer(threads("lukko-redis-timer"), TICK_MILLIS, TimeUnit.MILLISECONDS);
  private final ClientResources resources =
      ClientResources.builder()
          .ioThreadPoolSize(IO_THREADS)
          .computationThreadPoolSize(IO_THREADS)
          .threadFactoryProvider(pool -> threads("lukko-redis-" + pool))
          .timer(timer)
          .commandLatencyRecorder(CommandLatencyRecorder.disabled())
          .nettyCustomizer(BoundedReplies.inEachConnection())
          .build();

  private SharedResources() {}

  /**
   * Threads of the driver's own kind. Its factory lets them inherit the thread-locals and the
   * context class loader of the caller that happens to need the first one, so each is made in a
   * thread that has inherited none.
   */
  static ThreadFactory threads(String prefix) {
    ThreadFactory driver = new DefaultThreadFactory(prefix, true);
    ThreadFactory clean = new DaemonThreads(prefix + "-maker");
    return task -> {
      CompletableFuture<Thread> made = new CompletableFuture<>();
      clean
          .newThread(
              () -> {
                try {
                  made.complete(driver.newThread(task));
                } catch (Throwable failure) {
                  made.completeExceptionally(failure);
                }
              })
          .start();
      return made.join();
    };
  }

  /** The resources; each call needs one of {@link #release()}. */
  static synchronized ClientResources acquire() {
    if (current == null) {
      current = new SharedResources();
    }
    users++;
    return current.resources;
  }

  /**
   * Gives the resources back; completes when their threads have ended, if this was the last user.
   */
  static synchronized CompletableFuture<Void> release() {
    SharedResources last = current;
    if (--users > 0 || last == null) {
      return CompletableFuture.completedFuture(null);
    }
    current = null;
    CompletableFuture<Void> ended = new CompletableFuture<>();
    last.resources
        .shutdown(QUIET_MILLIS, SHUTDOWN_MILLIS, TimeUnit.MILLISECONDS)
        .addListener(
            future -> {
              // The timer waits for its own thread, and the driver calls back in one of its own.
              last.timer.stop();
              ended.complete(null);
            });
    return ended;
  }
}
