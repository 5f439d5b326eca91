package dev.lukko.redis.testing;

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
import java.util.function.Function;

/** Five servers behind proxies, clients of them, and everything that the clients told. */
public final class FaultBed implements AutoCloseable {
  public static final int NODES = 5;

  /** Ten times that of the table: many builds may share the machine. */
  public static final Duration NODE_TIMEOUT = Duration.ofMillis(500);

  public static final String ENTRY = "lukko:{r}";

  public final RedisServers servers;
  public final List<FaultProxy> proxies = new ArrayList<>();
  public final List<LockEvent> events = new CopyOnWriteArrayList<>();
  private final Function<List<String>, List<? extends LockNode>> connect;
  private final List<Redlock> clients = new ArrayList<>();
  private final List<LockNode> made = new ArrayList<>();

  /**
   * Servers and proxies, no nodes yet.
   *
   * @param connect makes nodes, with a command timeout of 10 s
   */
  public FaultBed(
      Function<List<String>, List<? extends LockNode>> connect,
      Consumer<RedisServer.Builder> options) {
    this.connect = connect;
    servers =
        RedisServers.start(
            NODES,
            server -> {
              server.config("enable-debug-command yes", "busy-reply-threshold 20");
              options.accept(server);
            });
    servers.all().forEach(server -> proxies.add(FaultProxy.to(server)));
  }

  public RedisServer server(int index) {
    return servers.get(index);
  }

  public FaultProxy proxy(int index) {
    return proxies.get(index);
  }

  /** The first of the five. */
  public List<RedisServer> first(int count) {
    return servers.all().subList(0, count);
  }

  /** New nodes, for a user with a password or for the default one; closed with the bed at last. */
  public List<LockNode> nodes(String user) {
    List<LockNode> nodes =
        List.copyOf(
            connect.apply(
                proxies.stream()
                    .map(proxy -> proxy.url("redis").replace("//", "//" + user))
                    .toList()));
    made.addAll(nodes);
    return nodes;
  }

  /** A client whose ttl, and whose quarantine, are as long as that. */
  public Redlock client(Duration ttl, Consumer<RedlockBuilder> options) {
    return client(nodes(""), ttl, options);
  }

  public Redlock client(
      List<? extends LockNode> nodes, Duration ttl, Consumer<RedlockBuilder> options) {
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

  public Redlock client(Duration ttl) {
    return client(ttl, options -> {});
  }

  /** Waits until no server that runs has an entry of the lock. */
  public void awaitNoEntry() {
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
  public Object ownerAt(int index) {
    return server(index).command("GET", ENTRY);
  }

  /** Waits until a client was told that a node does not take part, with words for the cause. */
  public void awaitTold(RedisServer server, String cause) {
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
    made.forEach(LockNode::close);
    proxies.forEach(FaultProxy::close);
    servers.close();
  }
}
