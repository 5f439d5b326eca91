package dev.lukko.redis.protocol;

import dev.lukko.spi.NodeStatus;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** The way of a node's requests to its server, or to the servers of a cluster. Thread-safe. */
public interface Link {

  /** Sends a request once; completes with the reply or with a {@link NodeFaultException}. */
  CompletableFuture<List<Object>> send(ScriptCall call);

  /** Sends a release, and again for as long as its outcome is open. */
  CompletableFuture<List<Object>> sendRelease(ScriptCall call);

  /** Sends a request to that run of the server only; gives null if another one is there by now. */
  @Nullable CompletableFuture<List<Object>> sendTo(String run, ScriptCall call);

  /** Remembers how short the ttls are that this client asks for. */
  void noteTtl(long ttlMillis);

  /** Looks at the server; never fails. */
  CompletableFuture<NodeStatus> status();

  /** What a record means at the server that is connected, if something else of it was seen. */
  NodeStatus statusOf(String key, String seen, String record, long serverMillis);

  boolean isConnected();

  /** Completes when the first attempt to connect has ended, in whichever way. */
  CompletableFuture<Void> firstTry();

  /** Ends the connection and all attempts. The client is not closed. */
  CompletableFuture<Void> close();
}
