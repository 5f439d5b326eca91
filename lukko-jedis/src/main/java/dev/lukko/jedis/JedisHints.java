package dev.lukko.jedis;

import dev.lukko.redis.protocol.HintConnection;
import dev.lukko.redis.protocol.NotSentException;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * A connection of Jedis' for subscriptions, with a thread that reads. What is to be written is
 * written elsewhere, one at a time, since it may block.
 */
final class JedisHints implements HintConnection {
  private final Connection connection;
  private final Executor executor;
  private final CompletableFuture<Void> ended = new CompletableFuture<>();
  private final ReentrantLock lock = new ReentrantLock();
  private final ReentrantLock writing = new ReentrantLock(true);

  // guarded by the lock
  private final Queue<CompletableFuture<Void>> asked = new ArrayDeque<>();
  private boolean over;

  private @Nullable Listener listener;

  JedisHints(Connection connection, Executor executor, String name) {
    this.connection = connection;
    this.executor = executor;
    this.threadName = name + "-hints";
  }

  private final String threadName;

  @Override
  public void listen(Listener hearing) {
    listener = hearing;
    connection.setSoTimeout(0);
    new DriverThread(threadName, () -> run(hearing)).start();
  }

  private void run(Listener hearing) {
    try {
      while (true) {
        read(hearing);
      }
    } catch (RuntimeException lost) {
      end(lost);
    } finally {
      hearing.disconnected();
      ended.complete(null);
    }
  }

  private void read(Listener hearing) {
    Object reply;
    try {
      reply = Exchange.decoded(connection.getUnflushedObject());
    } catch (JedisDataException refusal) {
      CompletableFuture<Void> refused = poll();
      if (refused != null) {
        refused.completeExceptionally(Exchange.error(refusal));
      }
      return;
    }
    if (reply instanceof List<?> list && list.size() > 1) {
      String channel = String.valueOf(list.get(1));
      switch (String.valueOf(list.get(0))) {
        case "message" -> hearing.message(channel);
        case "subscribe" -> {
          CompletableFuture<Void> done = poll();
          if (done != null) {
            done.complete(null);
          }
          hearing.subscribed(channel);
        }
        default -> {
          // the end of a subscription
        }
      }
    }
  }

  private @Nullable CompletableFuture<Void> poll() {
    lock.lock();
    try {
      return asked.poll();
    } finally {
      lock.unlock();
    }
  }

  /** One request for each channel, so that each has one reply. */
  @Override
  public CompletionStage<?> subscribe(List<String> channels) {
    CompletableFuture<?>[] replies =
        channels.stream().map(this::subscribe).toArray(CompletableFuture<?>[]::new);
    return CompletableFuture.allOf(replies);
  }

  private CompletableFuture<Void> subscribe(String channel) {
    CompletableFuture<Void> reply = new CompletableFuture<>();
    executor.execute(() -> write(Command.SUBSCRIBE, channel, reply));
    return reply;
  }

  @Override
  public void unsubscribe(String channel) {
    executor.execute(() -> write(Command.UNSUBSCRIBE, channel, null));
  }

  private void write(Command command, String channel, @Nullable CompletableFuture<Void> reply) {
    writing.lock();
    try {
      lock.lock();
      try {
        if (over) {
          if (reply != null) {
            reply.completeExceptionally(new NotSentException("Connection is closed"));
          }
          return;
        }
        if (reply != null) {
          asked.add(reply);
        }
      } finally {
        lock.unlock();
      }
      connection.sendCommand(command, channel);
      connection.getMany(0); // which flushes
    } catch (RuntimeException lost) {
      end(lost);
    } finally {
      writing.unlock();
    }
  }

  private void end(Throwable cause) {
    List<CompletableFuture<Void>> open;
    lock.lock();
    try {
      over = true;
      open = List.copyOf(asked);
      asked.clear();
    } finally {
      lock.unlock();
    }
    try {
      connection.forceDisconnect();
    } catch (IOException | RuntimeException gone) {
      System.getLogger(JedisHints.class.getName())
          .log(System.Logger.Level.DEBUG, "the connection had ended already", gone);
    }
    open.forEach(each -> each.completeExceptionally(cause));
  }

  @Override
  public boolean isOpen() {
    lock.lock();
    try {
      return !over;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public CompletableFuture<Void> close() {
    end(new IOException("the connection was closed"));
    if (listener == null) {
      ended.complete(null); // there is no thread
    }
    return ended;
  }
}
