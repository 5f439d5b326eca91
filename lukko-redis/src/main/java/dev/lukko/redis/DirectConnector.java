package dev.lukko.redis;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.codec.StringCodec;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/** Connects to one server, always the same. */
record DirectConnector(RedisClient client, RedisURI uri) implements DriverConnector {

  @Override
  public CompletionStage<DriverConnection> connect() {
    return made(
        CallersThread.keptClean(() -> client.connectAsync(StringCodec.UTF8, uri)),
        DriverConnection::new);
  }

  @Override
  public CompletionStage<DriverHints> connectHints() {
    return made(
        CallersThread.keptClean(() -> client.connectPubSubAsync(StringCodec.UTF8, uri)),
        DriverHints::new);
  }

  /** A connection in the protocol's form, or the failure in its words. */
  static <C, T> CompletionStage<T> made(CompletionStage<C> connecting, Function<C, T> form) {
    CompletableFuture<T> result = new CompletableFuture<>();
    var unused =
        connecting.whenComplete(
            (connection, error) -> {
              if (error == null) {
                result.complete(form.apply(connection));
              } else {
                result.completeExceptionally(DriverErrors.ofConnecting(error));
              }
            });
    return result;
  }
}
