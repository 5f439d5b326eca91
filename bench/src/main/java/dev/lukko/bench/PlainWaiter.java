package dev.lukko.bench;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.UUID;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * The waiting lock that one would write by hand: a failed try waits for a message on the lock's
 * channel, and asks again after 100 ms at the latest; a release deletes and publishes in one
 * script. One connection for commands and one for messages; each message wakes one thread of this
 * client.
 */
final class PlainWaiter implements AutoCloseable {
  private static final String RELEASE =
      "if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('del', KEYS[1]) "
          + "redis.call('publish', KEYS[1] .. ':free', '1') return 1 else return 0 end";

  private final StatefulRedisConnection<String, String> commands;
  private final StatefulRedisPubSubConnection<String, String> messages;
  private final Semaphore wakeUps = new Semaphore(0);
  private final String key;
  private final String digest;

  PlainWaiter(RedisClient client, String url, String key) {
    this.key = key;
    this.commands = client.connect(RedisURI.create(url));
    this.digest = commands.sync().scriptLoad(RELEASE);
    this.messages = client.connectPubSub(RedisURI.create(url));
    messages.addListener(
        new RedisPubSubAdapter<>() {
          @Override
          public void message(String channel, String message) {
            wakeUps.release();
          }
        });
    messages.sync().subscribe(key + ":free");
  }

  /** Waits until the lock is acquired, and gives the value that proves it. */
  String acquire(long ttlMillis) throws InterruptedException {
    String value = UUID.randomUUID().toString();
    while (true) {
      if (commands.sync().set(key, value, SetArgs.Builder.nx().px(ttlMillis)) != null) {
        return value;
      }
      boolean unused = wakeUps.tryAcquire(100, TimeUnit.MILLISECONDS);
    }
  }

  void release(String value) {
    Long deleted =
        commands.sync().evalsha(digest, ScriptOutputType.INTEGER, new String[] {key}, value);
    if (deleted == null || deleted != 1) {
      throw new IllegalStateException("the lock was lost");
    }
  }

  @Override
  public void close() {
    messages.close();
    commands.close();
  }
}
