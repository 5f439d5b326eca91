package dev.lukko.redis;

import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.concurrent.CompletionStage;

/** Makes connections to whichever server is the node's at the moment. */
interface Connector {

  /** A connection for requests; fails as the attempt does. */
  CompletionStage<StatefulRedisConnection<String, String>> connect();

  /** A connection for hints; fails as the attempt does. */
  CompletionStage<StatefulRedisPubSubConnection<String, String>> connectPubSub();
}
