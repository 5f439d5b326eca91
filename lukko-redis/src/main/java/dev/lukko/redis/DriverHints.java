package dev.lukko.redis;

import static dev.lukko.redis.DriverErrors.translated;

import dev.lukko.redis.protocol.HintConnection;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** A connection of Lettuce's for subscriptions. */
record DriverHints(StatefulRedisPubSubConnection<String, String> connection)
    implements HintConnection {

  @Override
  public void listen(Listener listener) {
    connection.addListener(
        new RedisPubSubAdapter<String, String>() {
          @Override
          public void message(String channel, String message) {
            listener.message(channel);
          }

          @Override
          public void subscribed(String channel, long count) {
            listener.subscribed(channel);
          }
        });
    connection.addListener(
        new RedisConnectionStateListener() {
          @Override
          public void onRedisDisconnected(RedisChannelHandler<?, ?> handler) {
            listener.disconnected();
          }
        });
  }

  @Override
  public CompletionStage<?> subscribe(List<String> channels) {
    return translated(connection.async().subscribe(channels.toArray(String[]::new)));
  }

  @Override
  public void unsubscribe(String channel) {
    connection.async().unsubscribe(channel);
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
