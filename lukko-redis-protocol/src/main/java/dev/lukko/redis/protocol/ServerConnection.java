package dev.lukko.redis.protocol;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A driver's connection for requests, from its handshake to its end; it is never revived.
 *
 * <p>Requests leave in the order in which they are handed in, by whatever threads, and each is sent
 * once. An error that the server replied is a {@link ServerErrorException}, and a request that was
 * certainly not written a {@link NotSentException}; after any other failure it may have been
 * applied. There is no limit of time but the caller's.
 */
public interface ServerConnection {

  /**
   * Sends a script's call.
   *
   * @param run the id of the run of the server, or empty if it keeps no records
   * @param withText whether the script's text goes along, or its digest only
   * @param then gets the reply, in a list of one if it is none, or the failure; may be called in
   *     any thread, and once
   */
  void send(
      ScriptCall call,
      String run,
      boolean withText,
      BiConsumer<@Nullable List<Object>, @Nullable Throwable> then);

  /** What the server tells of itself: the reply to {@code INFO}. */
  CompletableFuture<String> info();

  /** A setting of the server; null if it has none of that name. */
  CompletableFuture<@Nullable String> setting(String name);

  /** The fields of a hash and their texts; empty if there is none. */
  CompletableFuture<Map<String, String>> hash(String key);

  /** The server's time: seconds and microseconds. */
  CompletableFuture<List<String>> time();

  /** Calls an action when the connection has ended, at once if it has already, at least once. */
  void onDisconnected(Runnable action);

  boolean isOpen();

  /**
   * Ends the connection in an orderly way, behind what was sent; completes when it has ended. What
   * is under way fails.
   */
  CompletableFuture<Void> close();
}
