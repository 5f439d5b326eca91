package dev.lukko.redis;

import dev.lukko.redis.protocol.DriverVersion;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.MaintNotificationsConfig;
import io.lettuce.core.RedisClient;

/** What newer versions of Lettuce have, used where they have it; and the oldest that will do. */
final class NewerLettuce {
  private static final int MAJOR = 6;
  private static final int MINOR = 6;

  /** Since 7.0, servers may announce maintenance, at which the driver moves connections. */
  private static final boolean IS_TOLD_OF_MAINTENANCE =
      has("io.lettuce.core.MaintNotificationsConfig");

  private NewerLettuce() {}

  /**
   * Refuses a version that is too old.
   *
   * @throws IllegalStateException naming the version that was found and the one that is needed
   */
  static void check() {
    DriverVersion.require("Lettuce", "io.lettuce/lettuce-core", RedisClient.class, MAJOR, MINOR);
  }

  /** A connection that the driver replaces by itself would carry requests to another server. */
  static void stayPut(ClientOptions.Builder options) {
    if (IS_TOLD_OF_MAINTENANCE) {
      options.maintNotificationsConfig(MaintNotificationsConfig.disabled());
    }
  }

  /** Whether the driver sees a type: its own, or one of a module of the runtime. */
  static boolean has(String type) {
    try {
      Class.forName(type, false, RedisClient.class.getClassLoader());
      return true;
    } catch (ClassNotFoundException isMissing) {
      return false;
    }
  }
}
