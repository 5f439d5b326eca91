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
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * A connection of Jedis' for subscriptions, with a thread that reads. What is to be written is
 * written elsewhere, one at a time, since it may block.
 */
final class JedisHints implements HintConnection {
  private final MortalConnection connection;
  private final Executor executor;
  private final String threadName;
  private final CompletableFuture<Void> ended = new CompletableFuture<>();
  private final ReentrantLock lock = new ReentrantLock();
  private final ReentrantLock writing = new ReentrantLock(true);

  // guarded by the lock
  private final Queue<CompletableFuture<Void>> asked = new ArrayDeque<>();
  private boolean over;

  private @Nullable Listener listener;

  JedisHints(MortalConnection connection, Executor executor, String name) {
    this.connection = connection;
    this.executor = executor;
    this.threadName = name + "-hints";
    connection.readWithoutLimit();
  }

  @Override
  public void listen(Listener hearing) {
    listener = hearing;
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
      bury();
    }
  }

  private void bury() {
    writing.lock(); // what is being written fails at once, since the connection has ended
    try {
      connection.bury();
    } finally {
      writing.unlock();
    }
    ended.complete(null);
  }

  private void read(Listener hearing) {
    Object reply;
    try {
      reply = connection.read();
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

  /** Whoever waits is told outside of the locks, since what follows takes locks of its own. */
  private void write(Command command, String channel, @Nullable CompletableFuture<Void> reply) {
    RuntimeException lost = null;
    boolean open = false;
    writing.lock();
    try {
      open = expect(reply);
      if (open) {
        connection.write(command, channel);
        connection.flush();
      }
    } catch (RuntimeException failed) {
      lost = failed;
    } finally {
      writing.unlock();
    }
    if (lost != null) {
      end(lost);
    } else if (!open && reply != null) {
      reply.completeExceptionally(new NotSentException("Connection is closed"));
    }
  }

  /** Says whether the connection can still be used. */
  private boolean expect(@Nullable CompletableFuture<Void> reply) {
    lock.lock();
    try {
      if (!over && reply != null) {
        asked.add(reply);
      }
      return !over;
    } finally {
      lock.unlock();
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
    connection.end();
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
      bury(); // there is no thread
    }
    return ended;
  }
}
