package dev.lukko.redis;

import dev.lukko.redis.testing.BrokenRepliesContract;
import dev.lukko.spi.LockNode;

class BrokenRepliesTest extends BrokenRepliesContract {

  @Override
  protected LockNode connect(String url) {
    return RedisNode.connect(url);
  }
}
