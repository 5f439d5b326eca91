package dev.lukko.jedis;

import dev.lukko.redis.protocol.NotSentException;
import dev.lukko.redis.protocol.ScriptCall;
import dev.lukko.redis.protocol.ServerConnection;
import dev.lukko.time.Scheduler;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * A connection of Jedis' for requests, with two threads: one writes, one reads.
 *
 * <p>The driver blocks; its callers must not. So requests are handed to the writer, which sends
 * them in their order and at once, though replies are outstanding: a release is behind its grant on
 * the wire even if the server hangs. The driver's own layers above the connection, which may try a
 * command again, are not used, and a connection that has failed once writes nothing more.
 */
final class JedisLine implements ServerConnection {
  private static final long CLOSE_MILLIS = 250;

  private static final Exchange END = new Exchange(Command.PING, List.of(), (reply, error) -> {});

  private final MortalConnection connection;
  private final Scheduler timers;
  private final BlockingQueue<Exchange> toWrite = new LinkedBlockingQueue<>();
  private final AtomicInteger running = new AtomicInteger(2);
  private final CompletableFuture<Void> ended = new CompletableFuture<>();
  private final ReentrantLock lock = new ReentrantLock();
  private final DriverThread writer;

  // guarded by the lock
  private final Queue<Exchange> toRead = new ArrayDeque<>();
  private final List<Runnable> listeners = new ArrayList<>();
  private boolean closing;
  private boolean over;

  private JedisLine(MortalConnection connection, Scheduler timers, String name) {
    this.connection = connection;
    this.timers = timers;
    this.writer = new DriverThread(name + "-write", () -> run(this::write));
  }

  /** A line over a connection that is ready. */
  static JedisLine over(MortalConnection connection, Scheduler timers, String name) {
    JedisLine line = new JedisLine(connection, timers, name);
    connection.readWithoutLimit();
    line.writer.start();
    new DriverThread(name + "-read", () -> line.run(line::read)).start();
    return line;
  }

  private void run(Loop loop) {
    Throwable cause = null;
    try {
      loop.run();
    } catch (InterruptedException | RuntimeException | Error e) {
      cause = e; // an Error too: whoever waits for a reply must learn of it
    } finally {
      end(cause == null ? new IOException("the connection was closed") : cause);
      if (running.decrementAndGet() == 0) {
        connection.bury();
        ended.complete(null);
      }
    }
  }

  private interface Loop {
    void run() throws InterruptedException;
  }

  @SuppressWarnings("ReferenceEquality") // there is one end
  private void write() throws InterruptedException {
    Exchange next = toWrite.take();
    while (next != END) {
      if (!expectReply(next)) {
        next.fail(new NotSentException("Connection is closed"));
        return;
      }
      connection.write(next.command(), next.arguments().toArray(String[]::new));
      next = toWrite.poll();
      if (next == null) {
        connection.flush();
        next = toWrite.take();
      }
    }
    connection.flush();
  }

  /** Says whether the connection can still be used. */
  private boolean expectReply(Exchange exchange) {
    lock.lock();
    try {
      return !over && toRead.add(exchange);
    } finally {
      lock.unlock();
    }
  }

  private void read() {
    while (true) {
      Object reply;
      JedisDataException error = null;
      try {
        reply = connection.read();
      } catch (JedisDataException refusal) {
        reply = null;
        error = refusal;
      }
      Exchange answered;
      lock.lock();
      try {
        answered = toRead.poll();
      } finally {
        lock.unlock();
      }
      if (answered == null) {
        throw new IllegalStateException("a reply that nobody has asked for");
      }
      if (error != null) {
        answered.fail(Exchange.error(error));
      } else {
        answered.complete(reply);
      }
    }
  }

  /** Fails what is under way; nothing is sent from now on. */
  private void end(Throwable cause) {
    List<Exchange> unanswered;
    List<Exchange> unsent = new ArrayList<>();
    List<Runnable> told;
    lock.lock();
    try {
      if (over) {
        return;
      }
      over = true;
      closing = true;
      unanswered = new ArrayList<>(toRead);
      toRead.clear();
      toWrite.drainTo(unsent);
      told = new ArrayList<>(listeners);
      toWrite.add(END);
    } finally {
      lock.unlock();
    }
    connection.end();
    unanswered.forEach(each -> each.fail(cause));
    unsent.forEach(each -> each.fail(new NotSentException("Connection is closed", cause)));
    told.forEach(Runnable::run);
  }

  private void hand(Exchange exchange) {
    lock.lock();
    try {
      if (!closing) {
        toWrite.add(exchange);
        return;
      }
    } finally {
      lock.unlock();
    }
    exchange.fail(new NotSentException("Connection is closed"));
  }

  @Override
  public void send(
      ScriptCall call,
      String run,
      boolean withText,
      BiConsumer<@Nullable List<Object>, @Nullable Throwable> then) {
    String[] keys = call.keys(run);
    List<String> words = new ArrayList<>();
    words.add(withText ? call.script().text() : call.script().digest());
    words.add(Integer.toString(keys.length));
    words.addAll(List.of(keys));
    words.addAll(List.of(call.arguments(run)));
    hand(
        new Exchange(
            withText ? Command.EVAL : Command.EVALSHA,
            words,
            (reply, error) -> then.accept(error == null ? list(reply) : null, error)));
  }

  /** A reply without a list becomes one; a text that is missing is empty. */
  private static List<Object> list(@Nullable Object reply) {
    List<Object> elements = new ArrayList<>();
    for (Object each : reply instanceof List<?> list ? list : java.util.Arrays.asList(reply)) {
      elements.add(each == null ? "" : each);
    }
    return elements;
  }

  private CompletableFuture<@Nullable Object> ask(Command command, String... arguments) {
    CompletableFuture<@Nullable Object> answer = new CompletableFuture<>();
    hand(
        new Exchange(
            command,
            List.of(arguments),
            (reply, error) -> {
              if (error != null) {
                answer.completeExceptionally(error);
              } else {
                answer.complete(reply);
              }
            }));
    return answer;
  }

  @Override
  public CompletableFuture<String> info() {
    return ask(Command.INFO).thenApply(String::valueOf);
  }

  @Override
  public CompletableFuture<@Nullable String> setting(String name) {
    return ask(Command.CONFIG, "GET", name).thenApply(reply -> settingOf(reply));
  }

  /** The reply is a list of name and value, or a list of pairs in the newer form. */
  private static @Nullable String settingOf(@Nullable Object reply) {
    if (!(reply instanceof List<?> list) || list.isEmpty()) {
      return null;
    }
    return list.get(0) instanceof List<?> pair
        ? (String) pair.get(1)
        : list.size() > 1 ? (String) list.get(1) : null;
  }

  @Override
  public CompletableFuture<Map<String, String>> hash(String key) {
    return ask(Command.HGETALL, key).thenApply(JedisLine::fields);
  }

  /** The reply is a list of fields and texts in turn, or of pairs in the newer form. */
  private static Map<String, String> fields(@Nullable Object reply) {
    List<String> flat = new ArrayList<>();
    for (Object each : reply instanceof List<?> list ? list : List.of()) {
      if (each instanceof List<?> pair) {
        pair.forEach(part -> flat.add(String.valueOf(part)));
      } else if (each instanceof Map.Entry<?, ?> pair) {
        flat.add(String.valueOf(pair.getKey()));
        flat.add(String.valueOf(pair.getValue()));
      } else {
        flat.add(String.valueOf(each));
      }
    }
    Map<String, String> fields = new HashMap<>();
    for (int i = 0; i + 1 < flat.size(); i += 2) {
      fields.put(flat.get(i), flat.get(i + 1));
    }
    return fields;
  }

  @Override
  public CompletableFuture<List<String>> time() {
    return ask(Command.TIME)
        .thenApply(
            reply ->
                reply instanceof List<?> list
                    ? list.stream().map(String::valueOf).toList()
                    : List.of());
  }

  @Override
  public void onDisconnected(Runnable action) {
    lock.lock();
    try {
      if (!over) {
        listeners.add(action);
        return;
      }
    } finally {
      lock.unlock();
    }
    action.run();
  }

  @Override
  public boolean isOpen() {
    lock.lock();
    try {
      return !closing;
    } finally {
      lock.unlock();
    }
  }

  /** What was handed over is written first, unless the server does not take it. */
  @Override
  public CompletableFuture<Void> close() {
    lock.lock();
    try {
      if (!closing) {
        closing = true;
        toWrite.add(END); // the writer ends behind it, and the reader with the connection
        timers.schedule(
            () -> end(new IOException("the connection was closed")),
            TimeUnit.MILLISECONDS.toNanos(CLOSE_MILLIS));
      }
    } finally {
      lock.unlock();
    }
    return ended;
  }
}
