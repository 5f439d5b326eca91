package dev.lukko.redis.protocol;

/** A release whose outcome is open, and since when the server refuses it. */
final class PendingRelease {
  private final ScriptCall call;
  private boolean refused;
  private long refusedSinceNanos;

  PendingRelease(ScriptCall call) {
    this.call = call;
  }

  ScriptCall call() {
    return call;
  }

  void refused(long nowNanos) {
    if (!refused) {
      refused = true;
      refusedSinceNanos = nowNanos;
    }
  }

  /** Whether whatever it is about must have expired by itself. */
  boolean isPointless(long nowNanos, long longestTtlNanos) {
    return refused && nowNanos - refusedSinceNanos >= longestTtlNanos;
  }
}
