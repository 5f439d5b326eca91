package dev.lukko.redis.protocol;

import java.util.concurrent.CompletionStage;

/** Makes connections to whichever server is the node's at the moment. */
public interface Connector {

  /** A connection for requests; fails as the attempt does. */
  CompletionStage<? extends ServerConnection> connect();

  /** A connection for hints; fails as the attempt does. */
  CompletionStage<? extends HintConnection> connectHints();
}
