package dev.lukko.jedis;

import dev.lukko.redis.protocol.DriverVersion;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.net.Socket;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.util.Pool;

/** What newer versions of Jedis have, used where they have it; and the oldest that will do. */
final class NewerJedis {
  private static final int MAJOR = 6;
  private static final int MINOR = 0;

  private static final boolean NEGOTIATES =
      has(DefaultJedisClientConfig.Builder.class, "autoNegotiateProtocol");
  private static final boolean ENDS_BY_FORCE = has(Connection.class, "forceDisconnect");
  private static final boolean HAS_REDIS_CLIENT = has("redis.clients.jedis.RedisClient");

  private NewerJedis() {}

  /**
   * Refuses a version that is too old.
   *
   * @throws IllegalStateException naming the version that was found and the one that is needed
   */
  static void check() {
    DriverVersion.require("Jedis", "redis.clients/jedis", UnifiedJedis.class, MAJOR, MINOR);
  }

  /** Leaves the older protocol as it is, without {@code HELLO}, which not every server knows. */
  static void withoutHello(DefaultJedisClientConfig.Builder config) {
    if (NEGOTIATES) {
      config.autoNegotiateProtocol(false);
    }
  }

  /** Ends a connection at once, whatever is being read or written. */
  static void end(Connection connection) throws IOException {
    if (ENDS_BY_FORCE) {
      connection.forceDisconnect();
      return;
    }
    connection.setBroken();
    Socket socket = socketOf(connection);
    if (socket != null) {
      socket.close(); // the driver's own way flushes first, and may wait for the server
    }
  }

  private static @Nullable Socket socketOf(Connection connection) throws IOException {
    try {
      Field field = Connection.class.getDeclaredField("socket");
      field.setAccessible(true);
      return (Socket) field.get(connection);
    } catch (ReflectiveOperationException | RuntimeException hidden) {
      throw new IOException("this version of Jedis does not give its socket", hidden);
    }
  }

  /** The pool of a client that has it in the open; null for others. */
  static @Nullable Pool<Connection> poolOf(UnifiedJedis client) {
    return HAS_REDIS_CLIENT ? RedisClients.poolOf(client) : null;
  }

  /** Loaded only where the class is there. */
  private static final class RedisClients {
    static @Nullable Pool<Connection> poolOf(UnifiedJedis client) {
      return client instanceof RedisClient single ? single.getPool() : null;
    }
  }

  private static boolean has(Class<?> type, String method) {
    return Arrays.stream(type.getMethods()).map(Method::getName).anyMatch(method::equals);
  }

  private static boolean has(String type) {
    try {
      Class.forName(type, false, UnifiedJedis.class.getClassLoader());
      return true;
    } catch (ClassNotFoundException older) {
      return false;
    }
  }
}
