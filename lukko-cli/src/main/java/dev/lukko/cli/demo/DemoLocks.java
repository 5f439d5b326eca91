package dev.lukko.cli.demo;

import dev.lukko.LockClient;
import dev.lukko.redis.RedisNode;
import dev.lukko.redlock.Redlock;
import java.time.Duration;
import java.util.List;

/** The lock client of a worker. */
final class DemoLocks {

  /** Long enough for a machine that has more to do than this demo. */
  private static final Duration NODE_TIMEOUT = Duration.ofSeconds(1);

  private DemoLocks() {}

  static LockClient connect(List<String> nodes) {
    return Redlock.builder()
        .nodes(RedisNode.builder().connectAll(nodes))
        .nodeTimeout(NODE_TIMEOUT)
        .build();
  }
}
