package dev.lukko.bench.soak;

import dev.lukko.bench.ServerClocks;
import dev.lukko.redis.RedisNode;
import dev.lukko.spi.NodeStatus;
import dev.lukko.testkit.FaultProxy;
import dev.lukko.testkit.RedisServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * The five servers, the server of the set, and a proxy between each client and each of them.
 *
 * <p>Servers 0, 1 and 3 have an append-only file, 2 and 4 forget when they are killed; 3 and 4 have
 * clocks that can be set, if there are such.
 */
final class Bed implements AutoCloseable {
  private static final long STATUS_MILLIS = 300;

  private final Path directory;
  private final List<RedisServer> servers = new ArrayList<>();
  private final List<RedisNode> nodes = new ArrayList<>();
  private final List<ServerClocks.Clock> clocks = new ArrayList<>();
  private final List<List<FaultProxy>> links = new ArrayList<>();
  private final List<FaultProxy> setLinks = new ArrayList<>();
  private final RedisServer set;

  private Bed(Path directory, RedisServer set) {
    this.directory = directory;
    this.set = set;
  }

  static Bed start(int clients, boolean withClocks, Consumer<String> log) {
    try {
      Path directory = Files.createTempDirectory("lukko-soak-");
      Bed bed = new Bed(directory, RedisServer.start());
      try {
        bed.startServers(
            withClocks ? ServerClocks.prepare(directory, log) : Optional.<ServerClocks>empty());
        bed.startLinks(clients);
        return bed;
      } catch (IOException | InterruptedException | RuntimeException failure) {
        bed.close();
        throw failure;
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while the servers were started", e);
    }
  }

  private void startServers(Optional<ServerClocks> prepared) {
    for (int i = 0; i < SoakPlan.NODES; i++) {
      RedisServer.Builder builder = RedisServer.builder();
      if (hasFile(i)) {
        builder.appendOnly();
      }
      if (i >= SoakPlan.QUORUM && prepared.isPresent()) {
        clocks.add(prepared.get().give(builder, Integer.toString(i)));
      }
      servers.add(builder.start());
    }
    nodes.addAll(RedisNode.builder().connectAll(servers.stream().map(RedisServer::url).toList()));
  }

  private void startLinks(int clients) {
    for (int i = 0; i < clients; i++) {
      links.add(servers.stream().map(FaultProxy::to).toList());
      setLinks.add(FaultProxy.to(set));
    }
  }

  RedisServer server(int index) {
    return servers.get(index);
  }

  List<RedisServer> servers() {
    return servers;
  }

  RedisServer set() {
    return set;
  }

  /** Nodes without a proxy; they belong to this bed. */
  List<RedisNode> nodes() {
    return nodes;
  }

  boolean hasFile(int server) {
    return server != 2 && server != 4;
  }

  Optional<ServerClocks.Clock> clock(int server) {
    return clocks.isEmpty() || server < SoakPlan.QUORUM
        ? Optional.empty()
        : Optional.of(clocks.get(server - SoakPlan.QUORUM));
  }

  FaultProxy link(int client, int server) {
    return links.get(client).get(server);
  }

  List<String> urls(int client) {
    return links.get(client).stream().map(link -> link.url("redis")).toList();
  }

  FaultProxy setLink(int client) {
    return setLinks.get(client);
  }

  /** Whether a node says that it votes: it has all that it granted, or can do no harm any more. */
  boolean votes(int server) {
    try {
      return nodes
              .get(server)
              .status()
              .toCompletableFuture()
              .get(STATUS_MILLIS, TimeUnit.MILLISECONDS)
              .state()
          == NodeStatus.State.VOTING;
    } catch (ExecutionException | TimeoutException unreachable) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Ends every fault: all servers run with right clocks, and everything passes. */
  void heal() {
    for (RedisServer server : servers) {
      if (server.isAlive()) {
        server.resume();
      } else {
        server.restart();
      }
    }
    clocks.forEach(clock -> clock.set(java.time.Duration.ZERO));
    links.forEach(perClient -> perClient.forEach(FaultProxy::heal));
    setLinks.forEach(FaultProxy::heal);
  }

  /** The keys on all servers that are no counter and no marker. */
  List<String> entries() {
    List<String> found = new ArrayList<>();
    for (RedisServer server : servers) {
      for (String key : List.of("lukko:{soak}", "lukko:{soak}:line")) {
        if (!Long.valueOf(0).equals(server.command("EXISTS", key))) {
          found.add(key + " at " + server.url());
        }
      }
    }
    return found;
  }

  /** The pages of the set, in order. */
  List<String> pages() {
    List<String> pages = new ArrayList<>();
    while (set.command("GET", Pages.key(pages.size())) instanceof String page) {
      pages.add(page);
    }
    return pages;
  }

  /** The server processes that are still there. */
  List<String> alive() {
    return Stream.concat(servers.stream(), Stream.of(set))
        .filter(RedisServer::isAlive)
        .map(RedisServer::toString)
        .toList();
  }

  @Override
  public void close() {
    nodes.forEach(RedisNode::close);
    links.forEach(perClient -> perClient.forEach(FaultProxy::close));
    setLinks.forEach(FaultProxy::close);
    servers.forEach(RedisServer::close);
    set.close();
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
