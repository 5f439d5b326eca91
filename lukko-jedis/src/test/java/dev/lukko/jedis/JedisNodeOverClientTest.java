package dev.lukko.jedis;

import static dev.lukko.redis.testing.Requests.answer;
import static dev.lukko.redis.testing.Requests.entry;
import static dev.lukko.redis.testing.Requests.grant;
import static dev.lukko.redis.testing.Requests.has;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lukko.spi.Capability;
import dev.lukko.spi.Failed;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.LockNode;
import dev.lukko.testkit.FaultProxy;
import dev.lukko.testkit.MonitorTap;
import dev.lukko.testkit.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.util.Pool;

/** A node over a client of the caller's: its pool, its end, and that nothing is sent twice. */
class JedisNodeOverClientTest {
  private RedisServer server;
  private FaultProxy proxy;

  @BeforeEach
  void start() {
    server = RedisServer.start();
    proxy = FaultProxy.to(server);
  }

  @AfterEach
  void stop() {
    proxy.close();
    server.close();
  }

  private RedisClient clientWithAPoolOf(int connections) {
    ConnectionPoolConfig config = new ConnectionPoolConfig();
    config.setMaxTotal(connections);
    return RedisClient.builder().hostAndPort("127.0.0.1", server.port()).poolConfig(config).build();
  }

  @Test
  void requestIsNeverSentTwiceByAConnectionOfTheCallersPool() {
    try (RedisClient client = RedisClient.create(proxy.url("redis"));
        JedisNode node = JedisNode.over(client)) {
      SentOnce.check(node, server, proxy);
    }
  }

  @Test
  void requestIsNeverSentTwiceThoughTheClientTriesItsOwnAgain() {
    try (UnifiedJedis client = Clients.retrying(proxy.url("redis"));
        JedisNode node = JedisNode.over(client)) {
      SentOnce.check(node, server, proxy);
      proxy.resetAtNextRequest(has("by-the-caller"));
      client.set("by-the-caller", "again"); // so it does: the node would have been lost by it
      assertThat(client.get("by-the-caller")).isEqualTo("again");
    }
  }

  @Test
  void requestThatMeetsTheEndOfItsConnectionIsNotWrittenToANewOne() throws InterruptedException {
    GatedConnections gated = new GatedConnections(proxy.port());
    try (UnifiedJedis client = gated.client();
        JedisNode node = JedisNode.over(client)) {
      grant(node, entry("warm", "warm"), 5);
      gated.holdNextWriteOf("late");
      try (MonitorTap tap = MonitorTap.on(server)) {
        var reply =
            dev.lukko.testkit.SoleFleet.grant(
                node, new dev.lukko.spi.GrantRequest(entry("late", "r"), 60_000, 5));
        gated.awaitHeld();
        proxy.resetConnections();
        answer(reply); // the reader has seen the end, the writer has not
        gated.goOn();
        await().until(() -> grant(node, entry("other", "x"), 5) instanceof GrantReply.Granted);
        gated.awaitEndOfHeldWrite();
        assertThat(gated.isReconnected()).as("the driver has made a socket").isTrue();
        await().until(() -> connections() == 1 + 1); // the node's and the tap's
        assertThat(SentOnce.timesSeen(tap, "EVAL", "late")).isZero();
      }
    }
  }

  private long connections() {
    return String.valueOf(server.command("CLIENT", "LIST")).lines().count() - 1;
  }

  @Test
  void callersClientStaysUsableAndOpenUnlessTheNodeIsToCloseIt() {
    RedisClient client = RedisClient.create(server.url());
    JedisNode node = JedisNode.builder().name("mine").over(client);
    assertThat(node.name()).isEqualTo("mine");
    assertThat(grant(node, entry("a", "r"), 5)).isInstanceOf(GrantReply.Granted.class);
    assertThat(client.get("lukko:{r}")).isEqualTo("a");
    node.close();
    assertThat(client.get("lukko:{r}")).isEqualTo("a");
    assertThat(client.getPool().getNumActive()).isZero();
    JedisNode.builder().closeClient(true).over(client).close();
    assertThat(client.getPool().isClosed()).isTrue();
  }

  @Test
  void hintsComeByASecondConnectionFromTheFirstWaitOn() throws InterruptedException {
    try (RedisClient client = RedisClient.create(server.url())) {
      Pool<Connection> pool = client.getPool();
      JedisNode node = JedisNode.over(client);
      assertThat(node.capabilities()).contains(Capability.WATCH);
      grant(node, entry("a", "r"), 5);
      assertThat(pool.getNumActive()).isEqualTo(1);
      CountDownLatch hints = new CountDownLatch(2); // subscribed, and released
      try (LockNode.Watch watch = node.watch("r", hints::countDown)) {
        assertThat(watch).isNotNull();
        await().until(() -> hints.getCount() == 1);
        assertThat(pool.getNumActive()).isEqualTo(2);
        answer(node.release(entry("a", "r")));
        assertThat(hints.await(30, TimeUnit.SECONDS)).isTrue();
      }
      node.close();
      assertThat(pool.getNumActive()).isZero();
    }
  }

  @Test
  void hintsComeAgainAfterTheirConnectionHasBroken() {
    try (RedisClient client = RedisClient.create(proxy.url("redis"));
        JedisNode node = JedisNode.over(client)) {
      CountDownLatch hints = new CountDownLatch(2); // subscribed, and subscribed again
      try (LockNode.Watch watch = node.watch("r", hints::countDown)) {
        assertThat(watch).isNotNull();
        await().until(() -> hints.getCount() == 1);
        proxy.resetConnections();
        await().until(() -> hints.getCount() == 0);
        await().until(() -> client.getPool().getNumActive() == 2);
      }
    }
  }

  @Test
  void smallPoolGivesOneConnectionAndNoHints() {
    try (RedisClient client = clientWithAPoolOf(2);
        JedisNode node = JedisNode.over(client)) {
      assertThat(node.capabilities()).doesNotContain(Capability.WATCH);
      assertThat(grant(node, entry("a", "r"), 5)).isInstanceOf(GrantReply.Granted.class);
      assertThat(client.get("lukko:{r}")).isEqualTo("a");
    }
  }

  @Test
  void poolThatIsExhaustedKeepsTheNodeOutAndNobodyWaiting() {
    try (RedisClient client = clientWithAPoolOf(4)) {
      List<Connection> taken =
          Stream.generate(() -> client.getPool().getResource()).limit(4).toList();
      try (JedisNode node =
          JedisNode.builder().connectTimeout(Duration.ofMillis(50)).over(client)) {
        await()
            .untilAsserted(
                () ->
                    assertThat(grant(node, entry("a", "r"), 5))
                        .isInstanceOfSatisfying(
                            Failed.class,
                            failed ->
                                assertThat(failed.detail())
                                    .contains("no connection to spare, all 4 are in use")));
        taken.forEach(Connection::close);
        await().until(() -> grant(node, entry("a", "r"), 5) instanceof GrantReply.Granted);
      }
    }
  }

  @Test
  void newerProtocolTellsTheSameOfTheServer() {
    server.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
    try (JedisNode own = JedisNode.connect(server.url());
        RedisClient client =
            RedisClient.builder()
                .hostAndPort("127.0.0.1", server.port())
                .clientConfig(
                    DefaultJedisClientConfig.builder().protocol(RedisProtocol.RESP3).build())
                .build();
        JedisNode node = JedisNode.over(client)) {
      assertThat(answer(own.status()).warnings()).anyMatch(text -> text.contains("allkeys-lru"));
      assertThat(answer(node.status()))
          .usingRecursiveComparison()
          .ignoringFields("memory.clockMillis")
          .isEqualTo(answer(own.status()));
      assertThat(grant(node, entry("a", "r"), 5)).isInstanceOf(GrantReply.Granted.class);
    }
  }
}
