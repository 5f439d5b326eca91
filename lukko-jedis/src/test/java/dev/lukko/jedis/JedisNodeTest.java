package dev.lukko.jedis;

import static dev.lukko.redis.testing.Requests.answer;
import static dev.lukko.redis.testing.Requests.entry;
import static dev.lukko.redis.testing.Requests.grant;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.lukko.Lease;
import dev.lukko.LockException;
import dev.lukko.redlock.Redlock;
import dev.lukko.spi.Failed;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.NotVoting;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.testkit.FaultProxy;
import dev.lukko.testkit.RedisServer;
import dev.lukko.testkit.RedisServers;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the contracts do not say: the wire, unfit servers. */
class JedisNodeTest {
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

  @Test
  void requestIsNeverSentTwice() {
    try (JedisNode node = JedisNode.connect(proxy.url("redis"))) {
      SentOnce.check(node, server, proxy);
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
      assertThat(grant(node, entry("a", "r"), 5))
          .isInstanceOfSatisfying(
              NotVoting.class, unfit -> assertThat(unfit.detail()).contains("replica"));
      server.command("REPLICAOF", "NO", "ONE");
      await().until(() -> grant(node, entry("a", "r"), 5) instanceof GrantReply.Granted);
    }
  }

  @Test
  void wrongPasswordIsNamedAndNeverShown() {
    try (RedisServer guarded = RedisServer.builder().password("correct").start();
        JedisNode without = JedisNode.connect(guarded.url());
        JedisNode wrong = JedisNode.builder().password("hunter2").connect(guarded.url());
        JedisNode right = JedisNode.builder().password("correct").connect(guarded.url())) {
      assertThat(grant(without, entry("a", "r"), 5))
          .isInstanceOfSatisfying(
              Failed.class, failed -> assertThat(failed.detail()).startsWith("NOAUTH: "));
      GrantReply reply = grant(wrong, entry("a", "r"), 5);
      assertThat(reply)
          .isInstanceOfSatisfying(
              Failed.class, failed -> assertThat(failed.detail()).startsWith("WRONGPASS: "));
      assertThat(reply.toString() + wrong).doesNotContain("hunter2");
      assertThat(grant(right, entry("a", "r"), 5)).isInstanceOf(GrantReply.Granted.class);
    }
  }

  @Test
  void serverThatIsDownFailsAtOnceWithTheCauseAndJoinsWhenItIsUp() {
    server.kill();
    try (JedisNode node = JedisNode.connect(server.url())) {
      assertThat(grant(node, entry("a", "r"), 5))
          .isInstanceOfSatisfying(
              Failed.class, failed -> assertThat(failed.detail()).startsWith("connection refused"));
      server.restart();
      await().until(() -> grant(node, entry("a", "r"), 5) instanceof GrantReply.Granted);
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
