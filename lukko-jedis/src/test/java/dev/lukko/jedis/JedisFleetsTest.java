package dev.lukko.jedis;

import dev.lukko.redis.testing.FleetsContract;
import dev.lukko.spi.LockNode;

/** Fleets over Jedis. */
class JedisFleetsTest extends FleetsContract {
  @Override
  protected LockNode connect(String url) {
    return JedisNode.connect(url);
  }
}
