package dev.lukko.redis.protocol;

import java.net.ConnectException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Connects to nobody, and tells in which threads it was asked to. */
final class FakeConnector implements Connector {
  private final Runnable onAsked;

  FakeConnector(Runnable onAsked) {
    this.onAsked = onAsked;
  }

  @Override
  public CompletionStage<ServerConnection> connect() {
    onAsked.run();
    return CompletableFuture.failedFuture(new ConnectException("nobody is there"));
  }

  @Override
  public CompletionStage<HintConnection> connectHints() {
    onAsked.run();
    return CompletableFuture.failedFuture(new ConnectException("nobody is there"));
  }
}
