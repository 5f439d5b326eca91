package dev.lukko.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lukko.LockClient;
import dev.lukko.redlock.Redlock;
import dev.lukko.redlock.RedlockBuilder;
import dev.lukko.testkit.FaultProxy;
import dev.lukko.testkit.RedisServer;
import dev.lukko.testkit.RedisServers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Five real servers for a class, each behind a proxy for a test, and what must be true after each
 * test: no entry on any server, no thread of the library.
 */
final class FiveServers
    implements BeforeAllCallback, BeforeEachCallback, AfterEachCallback, AfterAllCallback {
  static final int COUNT = 5;
  static final String R = "r";
  static final String KEY = "lukko:{r}";

  private final List<FaultProxy> proxies = new ArrayList<>();
  private final List<LockClient> clients = new ArrayList<>();
  private final Set<Integer> paused = new java.util.TreeSet<>();
  private RedisServers servers;

  @Override
  public void beforeAll(ExtensionContext context) {
    Awaitility.setDefaultPollDelay(Duration.ZERO);
    Awaitility.setDefaultPollInterval(Duration.ofMillis(5));
    servers = RedisServers.start(COUNT);
  }

  @Override
  public void afterAll(ExtensionContext context) {
    servers.close();
    Awaitility.reset();
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    servers.all().forEach(server -> server.command("FLUSHALL"));
    // A new deployment is admitted as a whole, while all of its servers can be reached.
    String[] urls = servers.urls().toArray(String[]::new);
    try (Redlock first = Redlock.builder().nodes(RedisNode.connectAll(urls)).build()) {
      first.acquire("admission", Duration.ofSeconds(10)).release();
    }
    servers.all().forEach(server -> proxies.add(FaultProxy.to(server)));
  }

  @Override
  public void afterEach(ExtensionContext context) {
    try {
      heal();
      clients.forEach(LockClient::close);
      await().untilAsserted(() -> assertThat(entries()).as("entries left").isEmpty());
    } finally {
      clients.clear();
      proxies.forEach(FaultProxy::close);
      proxies.clear();
    }
    await().untilAsserted(() -> assertThat(threads()).as("threads left").isEmpty());
  }

  /** A client with connections of its own, through the proxies; closed at the end. */
  Redlock client(Consumer<RedlockBuilder> settings) {
    Redlock client = unmanagedClient(settings);
    clients.add(client);
    return client;
  }

  Redlock client() {
    return client(builder -> {});
  }

  Redlock unmanagedClient(Consumer<RedlockBuilder> settings) {
    RedlockBuilder builder =
        Redlock.builder()
            .nodes(nodes())
            .retryDelay(Duration.ofMillis(20))
            .retryJitter(Duration.ofMillis(20));
    settings.accept(builder);
    return builder.build();
  }

  List<RedisNode> nodes() {
    return RedisNode.connectAll(
        proxies.stream().map(proxy -> proxy.url("redis")).toArray(String[]::new));
  }

  RedisServer server(int number) {
    return servers.get(number - 1);
  }

  List<RedisServer> all() {
    return servers.all();
  }

  FaultProxy proxy(int number) {
    return proxies.get(number - 1);
  }

  List<FaultProxy> proxies() {
    return proxies;
  }

  /** Stops the processes of servers: connections stay, nothing is answered. */
  void pause(int... numbers) {
    for (int number : numbers) {
      server(number).pause();
      paused.add(number);
    }
  }

  void resume() {
    paused.forEach(number -> server(number).resume());
    paused.clear();
  }

  /** Resumes, restarts and heals everything. */
  void heal() {
    resume();
    for (RedisServer server : servers.all()) {
      if (!server.isAlive()) {
        server.restart();
      }
    }
    proxies.forEach(FaultProxy::heal);
  }

  /** All entries on all servers that are not paused: every key that is no counter and no marker. */
  List<String> entries() {
    List<String> found = new ArrayList<>();
    for (int i = 1; i <= COUNT; i++) {
      if (!paused.contains(i) && server(i).isAlive()) {
        int number = i;
        ((List<?>) server(i).command("KEYS", "lukko:{*}"))
            .forEach(key -> found.add("n" + number + " " + key));
      }
    }
    return found;
  }

  private static List<String> threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.startsWith("lukko") && !name.startsWith("lukko-testkit"))
        .toList();
  }
}
