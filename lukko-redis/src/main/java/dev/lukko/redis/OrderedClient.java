package dev.lukko.redis;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.protocol.DefaultEndpoint;
import io.lettuce.core.protocol.RedisCommand;
import io.lettuce.core.pubsub.PubSubEndpoint;
import io.lettuce.core.resource.ClientResources;
import io.netty.channel.Channel;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * A client whose connections send commands in the order in which they are handed over, by whatever
 * threads.
 *
 * <p>The driver by itself writes at once in the thread that serves the connection, and queues for
 * that thread in all others. A release that is decided upon when a reply arrives could so overtake
 * the grant that another thread has just handed over, and the grant's entry would stay.
 */
final class OrderedClient extends RedisClient {

  OrderedClient(ClientResources resources, RedisURI uri, ClientOptions options) {
    super(resources, uri);
    setOptions(options);
  }

  @Override
  protected DefaultEndpoint createEndpoint() {
    return new OrderedEndpoint(getOptions(), getResources());
  }

  @Override
  protected <K, V> PubSubEndpoint<K, V> createPubSubEndpoint() {
    return new OrderedPubSubEndpoint<>(getOptions(), getResources());
  }

  /** Hands over a command in the thread of its connection, behind those handed over before. */
  private static void inOrder(
      @Nullable Channel channel, RedisCommand<?, ?, ?> command, Runnable write) {
    if (channel == null) {
      write.run(); // which rejects it
      return;
    }
    try {
      channel.eventLoop().execute(write);
    } catch (RejectedExecutionException closed) {
      command.completeExceptionally(new RedisException("Connection is closed", closed));
    }
  }

  private static final class OrderedEndpoint extends DefaultEndpoint {

    OrderedEndpoint(ClientOptions options, ClientResources resources) {
      super(options, resources);
    }

    @Override
    public <K, V, T> RedisCommand<K, V, T> write(RedisCommand<K, V, T> command) {
      inOrder(channel, command, () -> super.write(command));
      return command;
    }
  }

  private static final class OrderedPubSubEndpoint<A, B> extends PubSubEndpoint<A, B> {

    OrderedPubSubEndpoint(ClientOptions options, ClientResources resources) {
      super(options, resources);
    }

    @Override
    public <K, V, T> RedisCommand<K, V, T> write(RedisCommand<K, V, T> command) {
      inOrder(channel, command, () -> super.write(command));
      return command;
    }
  }
}
