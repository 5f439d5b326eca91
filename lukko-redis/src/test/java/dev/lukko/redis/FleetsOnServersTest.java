package dev.lukko.redis;

import dev.lukko.redis.testing.FleetsContract;
import dev.lukko.spi.LockNode;

/** Fleets over Lettuce. */
class FleetsOnServersTest extends FleetsContract {
  @Override
  protected LockNode connect(String url) {
    return RedisNode.connect(url);
  }
}
