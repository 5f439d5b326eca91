package dev.lukko.redis.protocol;

import java.util.concurrent.TimeUnit;

/**
 * A release whose outcome is open, and when it is sent again.
 *
 * <p>While its server cannot be reached it waits without a limit of time. Once the server has
 * answered, whatever is applied before a ttl has passed expires or is found by a repetition, and
 * nothing is applied later than that.
 *
 * <p>Not thread-safe; guarded by the lock of its {@link RedisLink}.
 */
final class PendingRelease {
  private static final long FIRST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
  private static final long LONGEST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(5);
  private static final long AFTER_FAULT_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  private final ScriptCall call;
  private final OpenEntry open;
  private boolean answered;
  private long answeredSinceNanos;
  private long pauseNanos = FIRST_PAUSE_NANOS;
  private long dueNanos = System.nanoTime();

  PendingRelease(ScriptCall call, OpenEntry open) {
    this.call = call;
    this.open = open;
  }

  ScriptCall call() {
    return call;
  }

  OpenEntry open() {
    return open;
  }

  /** It was not sent, or its reply never came. */
  void failed(long nowNanos, boolean connectionEnded) {
    dueNanos = connectionEnded ? nowNanos : nowNanos + AFTER_FAULT_NANOS;
  }

  /** The server has answered, which does not tell that all is over. */
  void answered(long nowNanos) {
    if (!answered) {
      answered = true;
      answeredSinceNanos = nowNanos;
    }
    dueNanos = nowNanos + pauseNanos;
    pauseNanos = Math.min(2 * pauseNanos, LONGEST_PAUSE_NANOS);
  }

  boolean isDue(long nowNanos) {
    return dueNanos - nowNanos <= 0;
  }

  /** Whether whatever it is about must have expired by itself. */
  boolean isPointless(long nowNanos) {
    return answered && nowNanos - answeredSinceNanos >= open.ttlNanos();
  }
}
