package dev.lukko.release;

import java.util.concurrent.TimeUnit;

/**
 * A release whose outcome is open, and when it is sent again.
 *
 * <p>While its server cannot be reached it waits without a limit of time. Once the server has
 * answered, whatever is applied before a ttl has passed expires or is found by a repetition, and
 * nothing is applied later than that. So the last repetition is one that is sent when the ttl has
 * passed: an answer that comes then to an earlier one does not tell what was applied in between.
 *
 * <p>Not thread-safe; guarded as its {@link KeptReleases} are.
 *
 * @param <R> the request
 */
public final class PendingRelease<R> {
  private static final long FIRST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
  private static final long LONGEST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(5);
  private static final long AFTER_FAULT_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  private final R request;
  private final OpenEntry open;
  private boolean answered;
  private long answeredSinceNanos;
  private long pauseNanos = FIRST_PAUSE_NANOS;
  private long dueNanos;
  private long sentNanos;

  PendingRelease(R request, OpenEntry open, long nowNanos) {
    this.request = request;
    this.open = open;
    this.dueNanos = nowNanos;
    this.sentNanos = nowNanos;
  }

  /** What is sent. */
  public R request() {
    return request;
  }

  OpenEntry open() {
    return open;
  }

  void sent(long nowNanos) {
    sentNanos = nowNanos;
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

  /** Whether its last sending, now answered, has found whatever could still be there. */
  boolean isLastAnswered() {
    return answered && sentNanos - answeredSinceNanos >= open.ttlNanos();
  }

  /** Whether whatever it is about must have expired by itself. */
  boolean isPointless(long nowNanos) {
    return answered && nowNanos - answeredSinceNanos >= 2 * open.ttlNanos();
  }
}
