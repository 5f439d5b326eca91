package dev.lukko.testkit;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;

/** Several independent {@link RedisServer}s, started side by side and closed together. */
public final class RedisServers implements AutoCloseable {

  private final List<RedisServer> servers;

  private RedisServers(List<RedisServer> servers) {
    this.servers = List.copyOf(servers);
  }

  /**
   * Starts servers with default options.
   *
   * @param count how many, at least 1
   * @return the servers, which all answer already
   */
  public static RedisServers start(int count) {
    return start(count, options -> {});
  }

  /**
   * Starts servers with the same options.
   *
   * @param count how many, at least 1
   * @param options sets the options of each server; called once per server, in the calling thread
   * @return the servers, which all answer already
   * @throws IllegalArgumentException if {@code count < 1}
   * @throws IllegalStateException if one of them does not start; the others are closed then
   */
  public static RedisServers start(int count, Consumer<RedisServer.Builder> options) {
    if (count < 1) {
      throw new IllegalArgumentException("count " + count + " must be at least 1");
    }
    List<RedisServer.Builder> builders = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      RedisServer.Builder builder = RedisServer.builder();
      options.accept(builder);
      builders.add(builder);
    }
    ExecutorService threads = Executors.newFixedThreadPool(count, RedisServers::thread);
    try {
      return new RedisServers(
          join(
              builders.stream()
                  .map(builder -> CompletableFuture.supplyAsync(builder::start, threads))
                  .toList()));
    } finally {
      threads.shutdown();
    }
  }

  private static Thread thread(Runnable work) {
    Thread thread = new Thread(work, "lukko-testkit-start");
    thread.setDaemon(true);
    return thread;
  }

  /** Waits for all, so that no server that starts late is left behind when another one fails. */
  private static List<RedisServer> join(List<CompletableFuture<RedisServer>> starts) {
    List<RedisServer> started = new ArrayList<>();
    RuntimeException failure = null;
    for (CompletableFuture<RedisServer> start : starts) {
      try {
        started.add(start.join());
      } catch (CompletionException e) {
        IllegalStateException next =
            new IllegalStateException("a server did not start", e.getCause());
        if (failure == null) {
          failure = next;
        } else {
          failure.addSuppressed(next);
        }
      }
    }
    if (failure != null) {
      started.forEach(RedisServer::close);
      throw failure;
    }
    return started;
  }

  /**
   * The servers in a fixed order.
   *
   * @return an unmodifiable list
   */
  public List<RedisServer> all() {
    return servers;
  }

  /**
   * One of the servers.
   *
   * @param index from 0
   * @return the server
   */
  public RedisServer get(int index) {
    return servers.get(index);
  }

  /**
   * The addresses in the same order.
   *
   * @return one address per server
   */
  public List<String> urls() {
    return servers.stream().map(RedisServer::url).toList();
  }

  /** Closes every server, also when closing another one fails. */
  @Override
  public void close() {
    RuntimeException failure = null;
    for (RedisServer server : servers) {
      try {
        server.close();
      } catch (RuntimeException e) {
        if (failure == null) {
          failure = e;
        } else {
          failure.addSuppressed(e);
        }
      }
    }
    if (failure != null) {
      throw failure;
    }
  }
}
