package dev.lukko.jedis;

import dev.lukko.redis.testing.BrokenRepliesContract;
import dev.lukko.spi.LockNode;

class BrokenRepliesTest extends BrokenRepliesContract {

  @Override
  protected LockNode connect(String url) {
    return JedisNode.connect(url);
  }
}
