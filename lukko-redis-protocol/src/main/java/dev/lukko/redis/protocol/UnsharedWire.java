package dev.lukko.redis.protocol;

import org.jspecify.annotations.Nullable;

/**
 * The connection of a link that is not for everybody's requests, of which there is one at the most:
 * it is being made, its server is being asked who it is, or it carries the last releases.
 *
 * <p>Not thread-safe; guarded by the lock of its {@link RedisLink}.
 */
final class UnsharedWire {
  private boolean connecting;
  private @Nullable Wire wire;

  /** Somebody has begun to connect. */
  void connecting() {
    connecting = true;
  }

  /** The attempt to connect has ended, in whichever way. */
  void tried() {
    connecting = false;
  }

  void set(Wire current) {
    wire = current;
  }

  boolean is(Wire some) {
    return wire == some;
  }

  /** Forgets it, and gives it to whoever decides what becomes of it. */
  @Nullable Wire take() {
    Wire taken = wire;
    wire = null;
    return taken;
  }

  /** Whether there is one, or will be. */
  boolean isUnderWay() {
    return connecting || wire != null;
  }
}
