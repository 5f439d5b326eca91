package dev.lukko.spring;

import dev.lukko.jedis.JedisNodeBuilder;
import dev.lukko.redis.RedisNodeBuilder;
import dev.lukko.spi.LockNode;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisPassword;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/** A node on the server that the connections of a {@link JedisConnectionFactory} lead to. */
final class JedisConnections {
  private JedisConnections() {}

  static LockNode open(JedisConnectionFactory factory, LukkoProperties properties) {
    if (factory.getClusterConfiguration() != null || factory.getSentinelConfiguration() != null) {
      throw new IllegalArgumentException(
          "it is Jedis' of a cluster or of Sentinel, and these are for Lettuce alone");
    }
    if (factory.getClientConfiguration().getSslSocketFactory().isPresent()) {
      throw new IllegalArgumentException("its TLS settings are Jedis' own");
    }
    String address =
        (factory.isUseSsl() ? "rediss://" : "redis://")
            + factory.getHostName()
            + ":"
            + factory.getPort()
            + "/"
            + factory.getDatabase();
    RedisStandaloneConfiguration server = factory.getStandaloneConfiguration();
    String user = server == null ? null : server.getUsername();
    RedisPassword password = server == null ? RedisPassword.none() : server.getPassword();
    return RedisNodes.haveJedis()
        ? throughJedis(RedisNodes.Jedis.builder(properties), user, password).connect(address)
        : throughLettuce(RedisNodes.Lettuce.builder(properties), user, password).connect(address);
  }

  private static JedisNodeBuilder throughJedis(
      JedisNodeBuilder builder, @Nullable String user, RedisPassword password) {
    if (user != null && password.isPresent()) {
      builder.user(user);
    }
    password.map(String::new).ifPresent(builder::password);
    return builder;
  }

  private static RedisNodeBuilder throughLettuce(
      RedisNodeBuilder builder, @Nullable String user, RedisPassword password) {
    if (user != null && password.isPresent()) {
      builder.user(user);
    }
    password.map(String::new).ifPresent(builder::password);
    return builder;
  }
}
