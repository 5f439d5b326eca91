package dev.lukko.redis;

import dev.lukko.redis.protocol.Connector;
import java.util.concurrent.CompletionStage;

/** Makes connections of Lettuce's. */
interface DriverConnector extends Connector {
  @Override
  CompletionStage<DriverConnection> connect();

  @Override
  CompletionStage<DriverHints> connectHints();
}
