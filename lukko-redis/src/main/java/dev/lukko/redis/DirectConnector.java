package dev.lukko.redis;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.concurrent.CompletionStage;

/** Connects to one server, always the same. */
record DirectConnector(RedisClient client, RedisURI uri) implements Connector {

  @Override
  public CompletionStage<StatefulRedisConnection<String, String>> connect() {
    return client.connectAsync(StringCodec.UTF8, uri);
  }

  @Override
  public CompletionStage<StatefulRedisPubSubConnection<String, String>> connectPubSub() {
    return client.connectPubSubAsync(StringCodec.UTF8, uri);
  }
}
