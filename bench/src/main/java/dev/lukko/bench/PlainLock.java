package dev.lukko.bench;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * What one would write by hand on the driver: {@code SET key value NX PX ttl} and a
 * compare-and-delete script, on one node or on a quorum of several; without tokens, validity or
 * retries.
 */
final class PlainLock implements AutoCloseable {
  private static final String COMPARE_AND_DELETE =
      "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0"
          + " end";

  private final List<StatefulRedisConnection<String, String>> connections = new ArrayList<>();
  private final String digest;
  private final int quorum;

  PlainLock(RedisClient client, List<String> urls) {
    for (String url : urls) {
      connections.add(client.connect(RedisURI.create(url)));
    }
    String loaded = "";
    for (StatefulRedisConnection<String, String> connection : connections) {
      loaded = connection.sync().scriptLoad(COMPARE_AND_DELETE);
    }
    this.digest = loaded;
    this.quorum = urls.size() / 2 + 1;
  }

  /** Acquires and releases once. */
  void cycle(String key, long ttlMillis) throws Exception {
    String value = UUID.randomUUID().toString();
    awaitQuorum(
        connections.stream()
            .<CompletableFuture<?>>map(
                connection ->
                    future(connection.async().set(key, value, SetArgs.Builder.nx().px(ttlMillis))))
            .toList());
    awaitQuorum(
        connections.stream()
            .<CompletableFuture<?>>map(
                connection ->
                    future(
                        connection
                            .async()
                            .<Long>evalsha(
                                digest, ScriptOutputType.INTEGER, new String[] {key}, value)))
            .toList());
  }

  private static <T> CompletableFuture<T> future(RedisFuture<T> reply) {
    return reply.toCompletableFuture();
  }

  private void awaitQuorum(List<CompletableFuture<?>> replies) throws Exception {
    CompletableFuture<Void> reached = new CompletableFuture<>();
    AtomicInteger missing = new AtomicInteger(quorum);
    replies.forEach(
        reply ->
            reply.whenComplete(
                (value, failure) -> {
                  if (failure == null && missing.decrementAndGet() == 0) {
                    reached.complete(null);
                  }
                }));
    reached.get(1, TimeUnit.SECONDS);
  }

  @Override
  public void close() {
    connections.forEach(StatefulRedisConnection::close);
  }
}
