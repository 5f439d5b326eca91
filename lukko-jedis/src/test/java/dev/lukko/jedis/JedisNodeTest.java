package dev.lukko.jedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.lukko.Lease;
import dev.lukko.LockException;
import dev.lukko.redlock.Redlock;
import dev.lukko.spi.Capability;
import dev.lukko.spi.Failed;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.NotVoting;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.spi.Unknown;
import dev.lukko.testkit.FaultProxy;
import dev.lukko.testkit.MonitorTap;
import dev.lukko.testkit.RedisServer;
import dev.lukko.testkit.RedisServers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.providers.ConnectionProvider;

/** What the contract does not say: the wire, unfit servers, the caller's client. */
class JedisNodeTest {
  private static final long TTL = 60_000;

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

  private static <T> T answer(CompletionStage<T> stage) {
    return stage.toCompletableFuture().orTimeout(30, TimeUnit.SECONDS).join();
  }

  private static LockEntry entry(String owner, String resource) {
    return LockEntry.exclusive(List.of(resource), owner);
  }

  private static GrantReply grant(LockNode node, String owner, String resource) {
    GrantRequest request = new GrantRequest(entry(owner, resource), TTL, 5);
    GrantReply reply = answer(node.grant(request));
    if (reply instanceof NotVoting notVoting && notVoting.status().awaitsAdmission()) {
      answer(node.admit(notVoting.status(), 0));
      return answer(node.grant(request));
    }
    return reply;
  }

  private static Predicate<byte[]> has(String text) {
    return packet -> new String(packet, StandardCharsets.UTF_8).contains(text);
  }

  private long timesSeen(MonitorTap tap, String word, String owner) {
    return tap.requests().stream()
        .filter(line -> line.contains("\"" + owner + "\"") && line.contains(word))
        .count();
  }

  private void assertSentOnce(JedisNode node) {
    grant(node, "warm", "warm");
    answer(node.release(entry("warm", "warm")));
    try (MonitorTap tap = MonitorTap.on(server)) {
      proxy.resetAtNextReply(has("owner-1"));
      assertThat(grant(node, "owner-1", "r"))
          .isInstanceOfSatisfying(
              Unknown.class, unknown -> assertThat(unknown.detail()).startsWith("connection lost"));
      proxy.resetAtNextRequest(has("owner-2"));
      await().until(() -> grant(node, "owner-2", "s") instanceof Unknown);
      await().until(() -> grant(node, "other", "other") instanceof GrantReply.Granted);
      answer(node.release(entry("owner-1", "r")));
      await().until(() -> server.command("GET", "lukko:{r}") == null);
      assertThat(timesSeen(tap, "lukko:{r}:token", "owner-1")).isEqualTo(1);
      assertThat(timesSeen(tap, "EVAL", "owner-2")).isZero();
    }
  }

  @Test
  void requestIsNeverSentTwiceByTheNodesOwnConnection() {
    try (JedisNode node = JedisNode.connect(proxy.url("redis"))) {
      assertSentOnce(node);
    }
  }

  @Test
  void requestIsNeverSentTwiceByAConnectionOfTheCallersPool() {
    try (RedisClient client = RedisClient.create(proxy.url("redis"));
        JedisNode node = JedisNode.over(client)) {
      assertSentOnce(node);
    }
  }

  @Test
  void callersClientStaysUsableAndOpenUnlessTheNodeIsToCloseIt() {
    RedisClient client = RedisClient.create(server.url());
    JedisNode node = JedisNode.builder().name("mine").over(client);
    assertThat(node.name()).isEqualTo("mine");
    assertThat(node.capabilities()).doesNotContain(Capability.WATCH);
    assertThat(grant(node, "a", "r")).isInstanceOf(GrantReply.Granted.class);
    assertThat(client.get("lukko:{r}")).isEqualTo("a");
    node.close();
    assertThat(client.get("lukko:{r}")).isEqualTo("a");
    assertThat(client.getPool().getNumActive()).isZero();
    JedisNode.builder().closeClient(true).over(client).close();
    assertThat(client.getPool().isClosed()).isTrue();
  }

  @Test
  void poolThatIsExhaustedKeepsTheNodeOutAndNobodyWaiting() {
    try (RedisClient client = RedisClient.create(server.url())) {
      List<Connection> taken =
          java.util.stream.Stream.generate(() -> client.getPool().getResource())
              .limit(client.getPool().getMaxTotal())
              .toList();
      try (JedisNode node =
          JedisNode.builder().connectTimeout(Duration.ofMillis(50)).over(client)) {
        assertThat(grant(node, "a", "r")).isInstanceOf(Failed.class);
        taken.forEach(Connection::close);
        await().until(() -> grant(node, "a", "r") instanceof GrantReply.Granted);
      }
    }
  }

  @Test
  @SuppressWarnings("deprecation") // whoever has such a client has made it so
  void clientOfSeveralServersIsRefused() {
    ConnectionProvider provider =
        new ConnectionProvider() {
          @Override
          public Connection getConnection() {
            return new Connection("127.0.0.1", server.port());
          }

          @Override
          public Connection getConnection(CommandArguments arguments) {
            return getConnection();
          }

          @Override
          public void close() {}
        };
    try (UnifiedJedis other = new UnifiedJedis(provider, 3, Duration.ofSeconds(1))) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> JedisNode.over(other))
          .withMessageContaining("UnifiedJedis")
          .withMessageContaining("it must be a RedisClient");
    }
  }

  @Test
  void addressesForTheOtherDriverAreRefusedWithoutTheirPassword() {
    for (String url :
        List.of(
            "redis-sentinel://:hunter2@127.0.0.1:1?sentinelMasterId=m",
            "redis-cluster://:hunter2@127.0.0.1:1",
            "redis-socket:///tmp/redis.sock",
            "http://127.0.0.1")) {
      assertThatThrownBy(() -> JedisNode.connect(url))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("redis://")
          .hasMessageNotContaining("hunter2");
    }
  }

  @Test
  void sameServerTwiceIsRefusedAsAQuorum() {
    try (JedisNode direct = JedisNode.connect(server.url());
        JedisNode proxied = JedisNode.connect(proxy.url("redis"))) {
      assertThatThrownBy(
              () -> Redlock.builder().node(direct).node(proxied).closeNodes(false).build())
          .isInstanceOf(LockException.class)
          .hasMessageContaining("same server");
    }
  }

  @Test
  void replicaIsUnfitAndGetsNoRequests() {
    server.command("REPLICAOF", "127.0.0.1", "1");
    try (JedisNode node = JedisNode.connect(server.url())) {
      assertThat(answer(node.status()).state()).isEqualTo(NodeStatus.State.UNFIT);
      assertThat(grant(node, "a", "r"))
          .isInstanceOfSatisfying(
              NotVoting.class, unfit -> assertThat(unfit.detail()).contains("replica"));
      server.command("REPLICAOF", "NO", "ONE");
      await().until(() -> grant(node, "a", "r") instanceof GrantReply.Granted);
    }
  }

  @Test
  void wrongPasswordIsNamedAndNeverShown() {
    try (RedisServer guarded = RedisServer.builder().password("correct").start();
        JedisNode without = JedisNode.connect(guarded.url());
        JedisNode wrong = JedisNode.builder().password("hunter2").connect(guarded.url());
        JedisNode right = JedisNode.builder().password("correct").connect(guarded.url())) {
      assertThat(grant(without, "a", "r"))
          .isInstanceOfSatisfying(
              Failed.class, failed -> assertThat(failed.detail()).startsWith("NOAUTH: "));
      GrantReply reply = grant(wrong, "a", "r");
      assertThat(reply)
          .isInstanceOfSatisfying(
              Failed.class, failed -> assertThat(failed.detail()).startsWith("WRONGPASS: "));
      assertThat(reply.toString() + wrong).doesNotContain("hunter2");
      assertThat(grant(right, "a", "r")).isInstanceOf(GrantReply.Granted.class);
    }
  }

  @Test
  void serverThatIsDownFailsAtOnceWithTheCauseAndJoinsWhenItIsUp() {
    server.kill();
    try (JedisNode node = JedisNode.connect(server.url())) {
      assertThat(grant(node, "a", "r"))
          .isInstanceOfSatisfying(
              Failed.class, failed -> assertThat(failed.detail()).startsWith("connection refused"));
      server.restart();
      await().until(() -> grant(node, "a", "r") instanceof GrantReply.Granted);
      assertThat(answer(node.release(entry("a", "r")))).isInstanceOf(ReleaseReply.Released.class);
    }
  }

  @Test
  void quorumLocksThoughAMinorityHangs() {
    try (RedisServers servers = RedisServers.start(3);
        Redlock locks =
            Redlock.builder()
                .nodes(JedisNode.connectAll(servers.urls().toArray(String[]::new)))
                .build()) {
      servers.get(2).pause();
      for (int i = 0; i < 5; i++) {
        try (Lease lease = locks.acquire("r", Duration.ofSeconds(30))) {
          assertThat(lease.isValid()).isTrue();
        }
      }
      servers.get(2).resume();
    }
  }

  @Test
  void theOtherDriverIsNotThere() {
    for (String type : List.of("io.netty.channel.Channel", "io.lettuce.core.RedisClient")) {
      assertThatThrownBy(() -> Class.forName(type)).isInstanceOf(ClassNotFoundException.class);
    }
  }
}
