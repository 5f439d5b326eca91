package dev.lukko.jedis;

import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

import dev.lukko.testkit.RedisServer;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.MultiDbClient;
import redis.clients.jedis.MultiDbConfig;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.RedisSentinelClient;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.providers.ConnectionProvider;

/** Clients that are not one server with a pool: refused, with what to use in their place. */
class UnsuitableClientsTest {
  private RedisServer server;
  private HostAndPort address;

  @BeforeEach
  void start() {
    server = RedisServer.start();
    address = new HostAndPort("127.0.0.1", server.port());
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private static void assertRefused(UnifiedJedis client, String... words) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> JedisNode.over(client))
        .withMessageStartingWith("client is a ")
        .withMessageContainingAll(words);
  }

  @Test
  void clientOfAClusterIsSentToTheOtherDriver() {
    try (RedisServer member = RedisServer.builder().config("cluster-enabled yes").start()) {
      member.command("CLUSTER", "ADDSLOTSRANGE", "0", "16383");
      await()
          .atMost(Duration.ofSeconds(60))
          .until(() -> String.valueOf(member.command("CLUSTER", "INFO")).contains("state:ok"));
      HostAndPort seed = new HostAndPort("127.0.0.1", member.port());
      try (RedisClusterClient client = RedisClusterClient.builder().nodes(Set.of(seed)).build()) {
        assertRefused(client, "RedisClusterClient", "a cluster", "redis-cluster://");
      }
    }
  }

  @Test
  void clientOfSentinelIsSentToTheOtherDriver() {
    try (RedisServer sentinel =
            RedisServer.builder()
                .sentinel()
                .config("sentinel monitor main 127.0.0.1 " + server.port() + " 1")
                .start();
        RedisSentinelClient client =
            RedisSentinelClient.builder()
                .masterName("main")
                .sentinels(Set.of(new HostAndPort("127.0.0.1", sentinel.port())))
                .build()) {
      assertRefused(client, "RedisSentinelClient", "Sentinel", "redis-sentinel://");
    }
  }

  @Test
  void clientOfSeveralDatabasesIsToldToMakeANodeOfEach() {
    MultiDbConfig config =
        MultiDbConfig.builder()
            .database(address, 1.0f, DefaultJedisClientConfig.builder().build())
            .build();
    try (MultiDbClient client = MultiDbClient.builder().multiDbConfig(config).build()) {
      assertRefused(client, "MultiDbClient", "several databases", "a node of each");
    }
  }

  /** Only subclasses are made so. */
  private static final class OneConnectionClient extends UnifiedJedis {
    @SuppressWarnings("deprecation")
    OneConnectionClient(Connection connection) {
      super(connection);
    }
  }

  @Test
  void clientOverOneConnectionIsRefusedSinceItCannotBeShared() {
    try (UnifiedJedis client = new OneConnectionClient(new Connection(address))) {
      assertRefused(client, "OneConnectionClient over one connection", "JedisNode.connect(url)");
    }
  }

  @Test
  void clientWhoseConnectionsMayLeadAnywhereIsRefused() {
    ConnectionProvider provider =
        new ConnectionProvider() {
          @Override
          public Connection getConnection() {
            return new Connection(address);
          }

          @Override
          public Connection getConnection(CommandArguments arguments) {
            return getConnection();
          }

          @Override
          public void close() {}
        };
    try (UnifiedJedis client = Clients.over(provider)) {
      assertRefused(client, "UnifiedJedis", "may lead anywhere", "PooledConnectionProvider");
    }
  }
}
