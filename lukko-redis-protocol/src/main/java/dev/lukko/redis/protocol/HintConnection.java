package dev.lukko.redis.protocol;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** A driver's connection for subscriptions, from its handshake to its end; it is never revived. */
public interface HintConnection {

  /** Gets what is heard, in a thread of the driver. */
  interface Listener {
    /** Something was published. */
    void message(String channel);

    /** A subscription has come into force. */
    void subscribed(String channel);

    /** The connection has ended. */
    void disconnected();
  }

  /** Sets who listens; before the first subscription, once. */
  void listen(Listener listener);

  /** Subscribes; fails if the server refuses. */
  CompletionStage<?> subscribe(List<String> channels);

  /** Ends a subscription. */
  void unsubscribe(String channel);

  boolean isOpen();

  /** Ends the connection; completes when it has ended. */
  CompletableFuture<Void> close();
}
