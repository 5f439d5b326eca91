package dev.lukko.redis;

import static dev.lukko.redis.DriverErrors.translated;

import dev.lukko.redis.protocol.ScriptCall;
import dev.lukko.redis.protocol.ServerConnection;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.api.StatefulRedisConnection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** A connection of Lettuce's. */
record DriverConnection(StatefulRedisConnection<String, String> connection)
    implements ServerConnection {

  @Override
  public void send(
      ScriptCall call,
      String run,
      boolean withText,
      BiConsumer<@Nullable List<Object>, @Nullable Throwable> then) {
    ScriptRequest request = ScriptRequest.of(call, run, withText, then);
    try {
      var unused = connection.dispatch(request);
    } catch (RuntimeException e) { // the driver was shut down
      request.completeExceptionally(e);
    }
  }

  @Override
  public CompletableFuture<String> info() {
    return translated(connection.async().info());
  }

  @Override
  public CompletableFuture<@Nullable String> setting(String name) {
    return translated(connection.async().configGet(name)).thenApply(found -> found.get(name));
  }

  @Override
  public CompletableFuture<Map<String, String>> hash(String key) {
    return translated(connection.async().hgetall(key));
  }

  @Override
  public CompletableFuture<List<String>> time() {
    return translated(connection.async().time());
  }

  @Override
  public void onDisconnected(Runnable action) {
    connection.addListener(
        new RedisConnectionStateListener() {
          @Override
          public void onRedisDisconnected(RedisChannelHandler<?, ?> handler) {
            action.run();
          }
        });
    if (!connection.isOpen()) {
      action.run(); // it ended before the listener was there
    }
  }

  @Override
  public boolean isOpen() {
    return connection.isOpen();
  }

  @Override
  public CompletableFuture<Void> close() {
    return connection.closeAsync();
  }
}
