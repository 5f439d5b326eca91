package dev.lukko.spring;

import dev.lukko.redis.RedisNodeBuilder;
import dev.lukko.spi.LockNode;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.RedisURI;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisNode;
import org.springframework.data.redis.connection.RedisPassword;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisSocketConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** A node where the connections of a {@link LettuceConnectionFactory} lead to. */
final class LettuceConnections {
  private LettuceConnections() {}

  static LockNode open(LettuceConnectionFactory factory, LukkoProperties properties) {
    RedisNodeBuilder builder = RedisNodes.Lettuce.builder(properties);
    RedisClusterConfiguration cluster = factory.getClusterConfiguration();
    if (cluster != null) {
      login(builder, cluster.getUsername(), cluster.getPassword());
      return builder.connect(clusterAddress(cluster, factory.isUseSsl()));
    }
    RedisURI address = address(factory);
    if (factory.isUseSsl() && factory.getNativeClient() instanceof RedisClient client) {
      return builder.over(client, address); // It alone knows which authorities are trusted.
    }
    return builder.connect(address);
  }

  private static String clusterAddress(RedisClusterConfiguration cluster, boolean ssl) {
    return (ssl ? "rediss-cluster://" : "redis-cluster://")
        + cluster.getClusterNodes().stream()
            .map(RedisNode::asString)
            .collect(Collectors.joining(","));
  }

  private static void login(
      RedisNodeBuilder builder, @Nullable String user, RedisPassword password) {
    if (user != null && password.isPresent()) {
      builder.user(user);
    }
    password.map(String::new).ifPresent(builder::password);
  }

  private static RedisURI address(LettuceConnectionFactory factory) {
    RedisSentinelConfiguration sentinel = factory.getSentinelConfiguration();
    RedisSocketConfiguration socket = factory.getSocketConfiguration();
    RedisURI address;
    if (sentinel != null) {
      address = sentinelAddress(sentinel);
    } else if (socket != null) {
      address = RedisURI.Builder.socket(socket.getSocket()).build();
      login(address, socket.getUsername(), socket.getPassword());
    } else {
      RedisStandaloneConfiguration server = factory.getStandaloneConfiguration();
      address = RedisURI.Builder.redis(factory.getHostName(), factory.getPort()).build();
      login(address, server.getUsername(), server.getPassword());
    }
    address.setDatabase(factory.getDatabase());
    address.setSsl(factory.isUseSsl());
    address.setVerifyPeer(factory.getClientConfiguration().getVerifyMode());
    return address;
  }

  private static RedisURI sentinelAddress(RedisSentinelConfiguration sentinel) {
    RedisURI.Builder builder = RedisURI.builder();
    RedisPassword password = sentinel.getSentinelPassword();
    for (RedisNode node : sentinel.getSentinels()) {
      RedisURI one =
          RedisURI.Builder.redis(String.valueOf(node.getHost()), node.getRequiredPort()).build();
      login(one, sentinel.getSentinelUsername(), password);
      builder.withSentinel(one);
    }
    if (sentinel.getMaster() != null && sentinel.getMaster().getName() != null) {
      builder.withSentinelMasterId(sentinel.getMaster().getName());
    }
    RedisURI address = builder.build();
    login(address, sentinel.getUsername(), sentinel.getPassword());
    return address;
  }

  private static void login(RedisURI address, @Nullable String user, RedisPassword password) {
    if (!password.isPresent()) {
      return;
    }
    char[] secret = password.get();
    address.setCredentialsProvider(
        RedisCredentialsProvider.from(() -> RedisCredentials.just(user, secret)));
  }
}
