package dev.lukko.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lukko.LockEvent;
import dev.lukko.redlock.Redlock;
import dev.lukko.redlock.RedlockBuilder;
import dev.lukko.spi.LockNode;
import dev.lukko.testkit.FaultProxy;
import dev.lukko.testkit.RedisServer;
import dev.lukko.testkit.RedisServers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/** Five servers behind proxies, clients of them, and everything that the clients told. */
final class FaultBed implements AutoCloseable {
  static final int NODES = 5;

  /** Ten times that of the table: many builds may share the machine. */
  static final Duration NODE_TIMEOUT = Duration.ofMillis(500);

  static final String ENTRY = "lukko:{r}";

  final RedisServers servers;
  final List<FaultProxy> proxies = new ArrayList<>();
  final List<LockEvent> events = new CopyOnWriteArrayList<>();
  private final List<Redlock> clients = new ArrayList<>();

  FaultBed(Consumer<RedisServer.Builder> options) {
    servers =
        RedisServers.start(
            NODES,
            server -> {
              server.config("enable-debug-command yes", "busy-reply-threshold 20");
              options.accept(server);
            });
    servers.all().forEach(server -> proxies.add(FaultProxy.to(server)));
  }

  RedisServer server(int index) {
    return servers.get(index);
  }

  FaultProxy proxy(int index) {
    return proxies.get(index);
  }

  /** The first of the five. */
  List<RedisServer> first(int count) {
    return servers.all().subList(0, count);
  }

  /** New nodes, for a user with a password or for the default one. */
  List<RedisNode> nodes(String user) {
    return RedisNode.builder()
        .commandTimeout(Duration.ofSeconds(10))
        .connectAll(
            proxies.stream().map(proxy -> proxy.url("redis").replace("//", "//" + user)).toList());
  }

  /** A client whose ttl, and whose quarantine, are as long as that. */
  Redlock client(Duration ttl, Consumer<RedlockBuilder> options) {
    return client(nodes(""), ttl, options);
  }

  Redlock client(List<? extends LockNode> nodes, Duration ttl, Consumer<RedlockBuilder> options) {
    RedlockBuilder builder =
        Redlock.builder()
            .nodes(nodes)
            .maxTtl(ttl)
            .nodeTimeout(NODE_TIMEOUT)
            .retryDelay(Duration.ofMillis(50))
            .retryJitter(Duration.ofMillis(50))
            .listener(events::add);
    options.accept(builder);
    Redlock client = builder.build();
    clients.add(client);
    return client;
  }

  Redlock client(Duration ttl) {
    return client(ttl, options -> {});
  }

  /** Waits until no server that runs has an entry of the lock. */
  void awaitNoEntry() {
    for (RedisServer server : servers.all()) {
      if (server.isAlive()) {
        await()
            .alias("no entry at " + server)
            .pollDelay(Duration.ZERO)
            .pollInterval(Duration.ofMillis(5))
            .untilAsserted(() -> assertThat(server.command("EXISTS", ENTRY)).isEqualTo(0L));
      }
    }
  }

  /** The owner that a server has stored. */
  Object ownerAt(int index) {
    return server(index).command("GET", ENTRY);
  }

  /** Waits until a client was told that a node does not take part, with words for the cause. */
  void awaitTold(RedisServer server, String cause) {
    String address = ":" + proxy(servers.all().indexOf(server)).port();
    await()
        .untilAsserted(
            () ->
                assertThat(events)
                    .anyMatch(
                        event ->
                            event instanceof LockEvent.NodeStateChanged changed
                                && !changed.available()
                                && changed.node().endsWith(address)
                                && changed.detail().contains(cause)));
  }

  @Override
  public void close() {
    for (RedisServer server : servers.all()) {
      if (server.isAlive()) {
        server.resume();
      }
    }
    clients.forEach(Redlock::close);
    proxies.forEach(FaultProxy::close);
    servers.close();
  }
}
