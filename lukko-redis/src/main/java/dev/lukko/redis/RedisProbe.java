package dev.lukko.redis;

import dev.lukko.LockException;
import dev.lukko.redis.protocol.Faults;
import dev.lukko.redis.protocol.RedisAddress.Kind;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.ProtocolKeyword;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A connection of its own for plain questions to a node's server, beside the node: for diagnosis.
 *
 * <p>Made by {@link RedisNodeBuilder#probe}. Every call waits for its reply, at most for the time
 * that it is given. Sentinel is asked where the server is; of a cluster, the first server that was
 * named is asked. Thread-safe.
 */
public final class RedisProbe implements AutoCloseable {
  private static final long CLOSE_MILLIS = 1_000;

  private final String name;
  private final StatefulRedisConnection<String, String> connection;
  private final RedisClient client;

  private RedisProbe(
      String name, StatefulRedisConnection<String, String> connection, RedisClient client) {
    this.name = name;
    this.connection = connection;
    this.client = client;
  }

  static RedisProbe open(DriverAddress address, RedisClient client, Duration timeout) {
    DriverConnector connector =
        address.kind() == Kind.SENTINEL
            ? new SentinelConnector(client, address, timeout)
            : new DirectConnector(client, address.server());
    try {
      return new RedisProbe(
          address.name(), await(connector.connect(), timeout).connection(), client);
    } catch (Throwable failed) {
      shutdown(client);
      throw failed;
    }
  }

  /**
   * Loads what the driver needs for its first connection, so that the time of a node is its own.
   * Takes half a second or more in a fresh process, and 10 s at the most.
   */
  public static void warmUp() {
    DriverWarmup.run();
  }

  private static <T> T await(CompletionStage<T> stage, Duration timeout) {
    CompletableFuture<T> future = stage.toCompletableFuture();
    try {
      return future.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException late) {
      future.cancel(true);
      throw new LockException("no answer within " + timeout.toMillis() + " ms");
    } catch (ExecutionException failed) {
      Throwable cause = failed.getCause() == null ? failed : failed.getCause();
      throw new LockException(
          Faults.ofConnecting(DriverErrors.ofConnecting(cause)).detail(), cause);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new LockException("interrupted");
    }
  }

  /** The address of the server, without secrets. */
  public String name() {
    return name;
  }

  /**
   * Asks one question and waits for the reply.
   *
   * @param timeout for how long to wait
   * @param words the command and its arguments
   * @return a {@link String}, a {@link Long}, a {@code List} of such, or null
   * @throws LockException if the server refuses, which the message then begins with the code of, or
   *     does not answer in time, or cannot be reached
   */
  public @Nullable Object call(Duration timeout, String... words) {
    return await(send(words), timeout);
  }

  /**
   * Asks several questions at once and waits for all replies.
   *
   * @param timeout for how long to wait
   * @return the replies in the order of the questions, as {@link #call} gives them
   * @throws LockException as {@link #call} does, if one of them fails
   */
  public List<@Nullable Object> callAll(Duration timeout, List<String[]> questions) {
    List<CompletableFuture<@Nullable Object>> replies = new ArrayList<>();
    for (String[] words : questions) {
      replies.add(send(words).toCompletableFuture());
    }
    await(CompletableFuture.allOf(replies.toArray(new CompletableFuture<?>[0])), timeout);
    List<@Nullable Object> all = new ArrayList<>();
    replies.forEach(reply -> all.add(reply.join()));
    return all;
  }

  private CompletionStage<@Nullable Object> send(String... words) {
    CommandArgs<String, String> arguments = new CommandArgs<>(StringCodec.UTF8);
    for (int i = 1; i < words.length; i++) {
      arguments.add(words[i]);
    }
    return connection
        .async()
        .dispatch(new Keyword(words[0]), new AnyOutput(), arguments)
        .thenApply(reply -> reply.isEmpty() ? null : reply.get(0));
  }

  /** Ends the connection; waits at most 1 s for it. */
  @Override
  public void close() {
    shutdown(client);
  }

  private static void shutdown(RedisClient client) {
    CompletableFuture<Void> ended =
        CallersThread.keptClean(
            () ->
                client
                    .shutdownAsync()
                    .exceptionally(error -> null)
                    .thenCompose(done -> SharedResources.release()));
    try {
      ended.get(CLOSE_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException late) {
      System.getLogger(RedisProbe.class.getName())
          .log(System.Logger.Level.DEBUG, "the driver did not close in time", late);
    }
  }

  private record Keyword(String word) implements ProtocolKeyword {
    @Override
    public byte[] getBytes() {
      return word.toUpperCase(Locale.ROOT).getBytes(StandardCharsets.US_ASCII);
    }
  }
}
