package dev.lukko.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Everything that a {@link RedisServer} was asked to do since the tap was opened, as told by its
 * {@code MONITOR} command.
 *
 * <p>A line reads {@code 1700000000.123456 [0 127.0.0.1:50000] "set" "key" "value"}. Commands that
 * a script issued carry {@code lua} in place of the client's address. Passwords are not shown.
 *
 * <p>Thread-safe.
 */
public final class MonitorTap implements AutoCloseable {

  private static final Duration SETTLE_TIMEOUT = Duration.ofSeconds(10);
  private static final String MARKER = "lukko-monitor-tap-";

  private final RedisServer server;
  private final RespConnection connection;
  private final Thread reader;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final List<String> lines = new ArrayList<>();
  private @Nullable IOException failure;

  private MonitorTap(RedisServer server, RespConnection connection) {
    this.server = server;
    this.connection = connection;
    this.reader = new Thread(this::read, "lukko-monitor-" + server.port());
    this.reader.setDaemon(true);
  }

  /**
   * Opens a tap. Commands that the server takes after this call has returned are seen.
   *
   * @param server the server to listen to
   * @return the tap
   */
  public static MonitorTap on(RedisServer server) {
    try {
      RespConnection connection = server.connect();
      connection.call("MONITOR");
      connection.readWithoutTimeout();
      MonitorTap tap = new MonitorTap(server, connection);
      tap.reader.start();
      return tap;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void read() {
    try {
      while (true) {
        add(String.valueOf(connection.read()));
      }
    } catch (IOException e) {
      lock.lock();
      try {
        failure = e;
        changed.signalAll();
      } finally {
        lock.unlock();
      }
    }
  }

  private void add(String line) {
    lock.lock();
    try {
      lines.add(line);
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /**
   * The commands sent by clients and taken by the server before this call, in order; those that a
   * script issued are left out. Waits until the server has told all of them.
   *
   * @return the lines of {@code MONITOR}
   * @throws IllegalStateException if the server does not tell within 10 s
   */
  public List<String> requests() {
    return lines().stream().filter(line -> !line.contains(" lua] ")).toList();
  }

  /**
   * As {@link #requests()}, with the commands that scripts issued.
   *
   * @return the lines of {@code MONITOR}
   * @throws IllegalStateException if the server does not tell within 10 s
   */
  public List<String> lines() {
    // The server tells in order, so whatever came before the marker is here when the marker is.
    String marker = MARKER + UUID.randomUUID();
    server.command("ECHO", marker);
    long leftNanos = SETTLE_TIMEOUT.toNanos();
    lock.lock();
    try {
      while (lines.stream().noneMatch(line -> line.contains(marker))) {
        if (leftNanos <= 0 || failure != null) {
          throw new IllegalStateException("MONITOR of " + server + " does not answer", failure);
        }
        leftNanos = changed.awaitNanos(leftNanos);
      }
      return lines.stream().filter(line -> !line.contains(MARKER)).toList();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for MONITOR", e);
    } finally {
      lock.unlock();
    }
  }

  /** Stops listening and ends the thread; waits up to 5 s for it. */
  @Override
  public void close() {
    connection.close();
    try {
      TimeUnit.SECONDS.timedJoin(reader, 5);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
