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
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** A connection of Lettuce's for subscriptions. */
final class DriverHints implements HintConnection {
  private final StatefulRedisPubSubConnection<String, String> connection;
  private final AtomicReference<@Nullable CompletableFuture<Void>> closing =
      new AtomicReference<>();

  DriverHints(StatefulRedisPubSubConnection<String, String> connection) {
    this.connection = connection;
  }

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
    CompletableFuture<Void> closed = new CompletableFuture<>();
    if (!closing.compareAndSet(null, closed)) {
      CompletableFuture<Void> first = closing.get();
      return first == null ? closed : first; // the driver warns of a second time
    }
    var unused = connection.closeAsync().whenComplete((done, error) -> closed.complete(null));
    return closed;
  }
}
