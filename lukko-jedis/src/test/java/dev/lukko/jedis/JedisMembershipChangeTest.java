package dev.lukko.jedis;

import dev.lukko.redis.testing.MembershipChangeContract;
import dev.lukko.spi.LockNode;

/** Changes of the set of nodes over Jedis. */
class JedisMembershipChangeTest extends MembershipChangeContract {
  @Override
  protected LockNode connect(String url) {
    return JedisNode.connect(url);
  }
}
