package dev.lukko.jedis;

import dev.lukko.LockClient;
import dev.lukko.redlock.Redlock;
import redis.clients.jedis.UnifiedJedis;

/** Code of the page on Redis, here to be compiled. */
final class GuideSnippets {

  void nodes(UnifiedJedis unifiedJedis) {
    // begin jedis
    LockClient locks = Redlock.over(JedisNode.connect("redis://127.0.0.1:6379")); // its own
    LockClient mine = Redlock.over(JedisNode.over(unifiedJedis)); // your RedisClient or the like
    // end jedis
    mine.close();
    locks.close();
  }
}
