package dev.lukko.redis;

import dev.lukko.testkit.FaultProxy;
import dev.lukko.testkit.RedisServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * What the lock protects: a value at a real server that is written together with a token, in one
 * step, and refuses tokens below the highest it has seen (F3).
 */
final class FencedResource implements AutoCloseable {
  private static final String WRITE =
      """
      if tonumber(ARGV[1]) < tonumber(redis.call('HGET', KEYS[1], 'token') or '0') then
        return 0
      end
      redis.call('HSET', KEYS[1], 'token', ARGV[1], 'value', ARGV[2])
      return 1
      """;

  private static final String READ =
      """
      if tonumber(ARGV[1]) < tonumber(redis.call('HGET', KEYS[1], 'token') or '0') then
        return false
      end
      redis.call('HSET', KEYS[1], 'token', ARGV[1])
      return redis.call('HGET', KEYS[1], 'value')
      """;

  private final RedisServer server = RedisServer.start();
  final FaultProxy proxy = FaultProxy.to(server);
  private final RedisClient client = RedisClient.create(RedisURI.create(server.url()));
  private final StatefulRedisConnection<String, String> direct = client.connect();
  private final StatefulRedisConnection<String, String> proxied =
      client.connect(RedisURI.create(proxy.url("redis")));

  /** Writes, and says whether the resource has taken it. */
  boolean write(long token, String value) {
    return write(direct, token, value).join();
  }

  /** Writes through the proxy. */
  CompletableFuture<Boolean> writeThroughProxy(long token, String value) {
    return write(proxied, token, value);
  }

  /** Reads, and from then on refuses lower tokens; empty if it refuses this one. */
  Optional<String> read(long token) {
    String[] keys = {"resource"};
    return Optional.ofNullable(
        direct.sync().eval(READ, ScriptOutputType.VALUE, keys, Long.toString(token)));
  }

  private static CompletableFuture<Boolean> write(
      StatefulRedisConnection<String, String> connection, long token, String value) {
    return connection
        .async()
        .<Long>eval(
            WRITE, ScriptOutputType.INTEGER, new String[] {"resource"}, Long.toString(token), value)
        .thenApply(taken -> taken == 1)
        .toCompletableFuture();
  }

  String value() {
    return direct.sync().hget("resource", "value");
  }

  @Override
  public void close() {
    client.shutdown();
    proxy.close();
    server.close();
  }
}
