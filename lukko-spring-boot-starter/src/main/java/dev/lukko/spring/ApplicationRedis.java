package dev.lukko.spring;

import dev.lukko.spi.LockNode;
import java.util.List;
import java.util.function.Supplier;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.ClassUtils;

/**
 * The Redis that the application has connections to. The nodes have connections of their own: a
 * lock must not wait for what else the application asks of the server.
 */
final class ApplicationRedis implements ApplicationStore {
  private final Supplier<RedisConnectionFactory> connections;
  private final LukkoProperties properties;

  ApplicationRedis(Supplier<RedisConnectionFactory> connections, LukkoProperties properties) {
    this.connections = connections;
    this.properties = properties;
  }

  @Override
  public String description() {
    return "the application's Redis connection";
  }

  @Override
  public List<LockNode> open() {
    RedisConnectionFactory factory = connections.get();
    try {
      if (isPresent("io.lettuce.core.RedisClient")
          && RedisNodes.haveLettuce()
          && factory instanceof LettuceConnectionFactory lettuce) {
        return List.of(LettuceConnections.open(lettuce, properties));
      }
      if (isPresent("redis.clients.jedis.UnifiedJedis")
          && (RedisNodes.haveLettuce() || RedisNodes.haveJedis())
          && factory instanceof JedisConnectionFactory jedis) {
        return List.of(JedisConnections.open(jedis, properties));
      }
    } catch (IllegalArgumentException refused) {
      throw unusable(String.valueOf(refused.getMessage()), refused);
    }
    throw unusable(
        "there is no module for a " + factory.getClass().getName(),
        new IllegalStateException("unknown kind of connections"));
  }

  private static boolean isPresent(String type) {
    return ClassUtils.isPresent(type, ApplicationRedis.class.getClassLoader());
  }

  private static UnusableSettingsException unusable(String why, Throwable cause) {
    return new UnusableSettingsException(
        "The application's Redis connection cannot hold locks: " + why,
        "Name the servers in lukko.nodes.",
        cause);
  }
}
