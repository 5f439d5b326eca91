package dev.lukko.spring;

import dev.lukko.jedis.JedisNode;
import dev.lukko.jedis.JedisNodeBuilder;
import dev.lukko.redis.RedisNode;
import dev.lukko.redis.RedisNodeBuilder;
import dev.lukko.redis.format.RedisKeyFormat;
import dev.lukko.spi.LockNode;
import java.util.List;
import java.util.function.Supplier;
import org.springframework.util.ClassUtils;

/** Nodes on Redis, through Lettuce where {@code lukko-redis} is there, otherwise through Jedis. */
final class RedisNodes {
  private static final boolean HAS_LETTUCE = has("dev.lukko.redis.RedisNode");
  private static final boolean HAS_JEDIS = has("dev.lukko.jedis.JedisNode");

  private RedisNodes() {}

  private static boolean has(String type) {
    return ClassUtils.isPresent(type, RedisNodes.class.getClassLoader());
  }

  static List<? extends LockNode> connect(List<String> addresses, LukkoProperties properties) {
    if (HAS_LETTUCE) {
      return Lettuce.builder(properties).connectAll(addresses);
    }
    if (HAS_JEDIS) {
      return Jedis.builder(properties).connectAll(addresses);
    }
    throw new UnusableSettingsException(
        "lukko.nodes has addresses of Redis, and there is no module for them",
        "Add the dependency dev.lukko:lukko-redis or dev.lukko:lukko-jedis.",
        new IllegalStateException("no module for Redis"));
  }

  /** Apart, so that nothing of a driver is loaded that is not there. */
  static final class Lettuce {
    private Lettuce() {}

    static RedisNodeBuilder builder(LukkoProperties properties) {
      return withDriver(
          () -> RedisNode.builder().keyFormat(formatOf(properties)), "lettuce.version");
    }
  }

  /** The same for the other driver. */
  static final class Jedis {
    private Jedis() {}

    static JedisNodeBuilder builder(LukkoProperties properties) {
      return withDriver(() -> JedisNode.builder().keyFormat(formatOf(properties)), "jedis.version");
    }
  }

  static boolean haveLettuce() {
    return HAS_LETTUCE;
  }

  static boolean haveJedis() {
    return HAS_JEDIS;
  }

  private static RedisKeyFormat formatOf(LukkoProperties properties) {
    return RedisKeyFormat.valueOf(properties.keyFormat().name());
  }

  private static <T> T withDriver(Supplier<T> builder, String version) {
    try {
      return builder.get();
    } catch (IllegalStateException tooOld) {
      throw new UnusableSettingsException(
          "The lock's nodes cannot be reached: " + tooOld.getMessage(),
          "Set the build's property " + version + ", or use a newer Spring Boot.",
          tooOld);
    }
  }
}
