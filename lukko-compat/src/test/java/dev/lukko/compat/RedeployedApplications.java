package dev.lukko.compat;

import dev.lukko.Lease;
import dev.lukko.LockClient;
import dev.lukko.jedis.JedisNode;
import dev.lukko.redis.RedisNode;
import dev.lukko.redlock.Redlock;
import java.time.Duration;
import java.util.function.Consumer;

/** What the applications do that are loaded by a loader of their own. */
final class RedeployedApplications {

  private RedeployedApplications() {}

  static void lock(LockClient client) {
    try (LockClient locks = client) {
      for (int time = 0; time < 3; time++) {
        Lease lease = locks.acquire("job", Duration.ofSeconds(30));
        lease.release();
      }
    }
  }
}

/** Over Lettuce. */
final class RedeployedOverLettuce implements Consumer<String> {
  @Override
  public void accept(String url) {
    RedisNode node = RedisNode.connect(url);
    node.watch("job", () -> {}).close();
    RedeployedApplications.lock(Redlock.over(node));
  }
}

/** Over Jedis. */
final class RedeployedOverJedis implements Consumer<String> {
  @Override
  public void accept(String url) {
    RedeployedApplications.lock(Redlock.over(JedisNode.connect(url)));
  }
}
