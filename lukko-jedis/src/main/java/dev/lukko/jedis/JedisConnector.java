package dev.lukko.jedis;

import dev.lukko.redis.protocol.Connector;
import dev.lukko.redis.protocol.NotSentException;
import dev.lukko.redis.protocol.ServerErrorException;
import dev.lukko.time.Scheduler;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import redis.clients.jedis.Connection;
import redis.clients.jedis.exceptions.JedisDataException;

/** Makes connections in threads of its own, for Jedis blocks until they are made. */
final class JedisConnector implements Connector {
  private final Connections connections;
  private final Scheduler threads;
  private final String threadName;
  private volatile boolean closed;

  /** Makes connections or takes them from a pool; blocks, with a limit of time. */
  interface Connections {
    Connection take();

    /** Called when a connection that was taken is not used any more. */
    void giveBack(Connection broken);
  }

  JedisConnector(Connections connections, Scheduler threads, String threadName) {
    this.connections = connections;
    this.threads = threads;
    this.threadName = threadName;
  }

  @Override
  public CompletionStage<JedisLine> connect() {
    return make(made -> JedisLine.over(made, threads, threadName));
  }

  @Override
  public CompletionStage<JedisHints> connectHints() {
    return make(made -> new JedisHints(made, threads::execute, threadName));
  }

  private <T> CompletionStage<T> make(Function<MortalConnection, T> form) {
    CompletableFuture<T> result = new CompletableFuture<>();
    threads.execute(
        () -> {
          try {
            Connection taken = connections.take();
            use(new MortalConnection(taken, () -> connections.giveBack(taken)), form, result);
          } catch (RuntimeException failed) {
            result.completeExceptionally(inOurWords(failed));
          }
        });
    return result;
  }

  private <T> void use(
      MortalConnection made, Function<MortalConnection, T> form, CompletableFuture<T> result) {
    try {
      if (closed) {
        throw new NotSentException("closed");
      }
      result.complete(form.apply(made));
    } catch (RuntimeException unusable) {
      made.bury();
      throw unusable;
    }
  }

  /** A server that refuses the handshake says why, somewhere in the driver's chain of causes. */
  private static Throwable inOurWords(Throwable failed) {
    for (Throwable next = failed; next != null; next = next.getCause()) {
      if (next instanceof JedisDataException) {
        return new ServerErrorException(String.valueOf(next.getMessage()));
      }
    }
    return failed;
  }

  /** A connection that is being made is closed when it is there. */
  void close() {
    closed = true;
  }
}
