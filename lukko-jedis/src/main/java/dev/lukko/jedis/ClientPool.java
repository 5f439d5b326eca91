package dev.lukko.jedis;

import java.lang.reflect.Field;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.providers.ConnectionProvider;
import redis.clients.jedis.providers.PooledConnectionProvider;
import redis.clients.jedis.util.Pool;

/**
 * Finds the pool of a caller's client, or says why the client cannot serve as a node.
 *
 * <p>Connections are taken from the pool itself. What the client has above it, such as an executor
 * that tries a command again, is never used, so that a client that retries does no harm.
 */
final class ClientPool {

  private static final String SEVERAL_DATABASES =
      "one of several databases, and to another one after a failover: make a node of each of"
          + " them, with a client of its own";

  /**
   * By the names of classes, which not every version has: what leads to several servers, and what
   * to use in its place.
   */
  private static final Map<String, String> SEVERAL =
      Map.of(
          "ClusterConnectionProvider",
          "a cluster: use RedisNode.connect(\"redis-cluster://...\") of lukko-redis, as the only"
              + " node",
          "SentineledConnectionProvider",
          "whichever server Sentinel names: use RedisNode.connect(\"redis-sentinel://...\") of"
              + " lukko-redis",
          "MultiDbConnectionProvider",
          SEVERAL_DATABASES,
          "MultiClusterPooledConnectionProvider", // its name before Jedis 7
          SEVERAL_DATABASES);

  private ClientPool() {}

  /**
   * The pool of a client.
   *
   * @throws IllegalArgumentException if the client has no pool, or does not lead to one server
   */
  static Pool<Connection> of(UnifiedJedis client) {
    Pool<Connection> open = NewerJedis.poolOf(client);
    if (open != null) {
      return open;
    }
    ConnectionProvider provider = providerOf(client);
    if (provider instanceof PooledConnectionProvider pooled) {
      return pooled.getPool();
    }
    throw new IllegalArgumentException(
        "client is a " + nameOf(client) + " " + whyNot(provider) + "; a node is one server");
  }

  private static String whyNot(@Nullable ConnectionProvider provider) {
    if (provider == null) {
      return "over one connection, which cannot be shared: the replies to two users of it would be"
          + " mixed up. It must have a pool, as a RedisClient has; or use JedisNode.connect(url)";
    }
    for (Class<?> type = provider.getClass(); type != null; type = type.getSuperclass()) {
      String several = SEVERAL.get(type.getSimpleName());
      if (several != null) {
        return "that leads to " + several;
      }
    }
    return "over a "
        + provider.getClass().getName()
        + ", which may lead anywhere; it must be a RedisClient, or have a PooledConnectionProvider";
  }

  private static String nameOf(UnifiedJedis client) {
    Class<?> type = client.getClass();
    while (type.isAnonymousClass()) {
      type = type.getSuperclass();
    }
    return type.getSimpleName();
  }

  /**
   * What the client gets its connections from; null if it has one connection only. The driver keeps
   * it in a protected field, meant for subclasses, and has no method for it.
   */
  private static @Nullable ConnectionProvider providerOf(UnifiedJedis client) {
    try {
      Field field = UnifiedJedis.class.getDeclaredField("provider");
      field.setAccessible(true);
      return (ConnectionProvider) field.get(client);
    } catch (ReflectiveOperationException | RuntimeException closed) {
      throw new IllegalArgumentException(
          "client is a "
              + nameOf(client)
              + ", and this version of Jedis does not tell where it leads; it must be a"
              + " RedisClient",
          closed);
    }
  }
}
