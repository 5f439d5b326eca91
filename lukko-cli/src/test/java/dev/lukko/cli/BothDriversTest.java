package dev.lukko.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lukko.Lease;
import dev.lukko.LockException;
import dev.lukko.jedis.JedisNode;
import dev.lukko.redis.RedisNode;
import dev.lukko.redlock.Redlock;
import dev.lukko.testkit.RedisServer;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Both drivers speak the same protocol at the same server. */
class BothDriversTest {
  private static final Duration TTL = Duration.ofMinutes(1);

  @Test
  void locksOfOneDriverExcludeThoseOfTheOtherAndTokensRiseOverBoth() {
    try (RedisServer server = RedisServer.start();
        Redlock lettuce = Redlock.over(RedisNode.connect(server.url()));
        Redlock jedis = Redlock.over(JedisNode.connect(server.url()))) {
      long first;
      try (Lease lease = jedis.acquire("r", TTL)) {
        first = lease.fencingToken();
        assertThat(lettuce.tryAcquire("r", TTL)).isEmpty();
      }
      try (Lease lease = lettuce.acquire("r", TTL)) {
        assertThat(lease.fencingToken()).isGreaterThan(first);
        assertThat(jedis.tryAcquire("r", TTL)).isEmpty();
      }
      assertThat(jedis.tryAcquire("r", TTL)).isPresent();
    }
  }

  @Test
  void sameServerThroughBothDriversIsOneServer() {
    try (RedisServer server = RedisServer.start();
        RedisNode lettuce = RedisNode.connect(server.url());
        JedisNode jedis = JedisNode.builder().name("jedis").connect(server.url())) {
      assertThatThrownBy(
              () -> Redlock.builder().node(lettuce).node(jedis).closeNodes(false).build())
          .isInstanceOf(LockException.class)
          .hasMessageContaining("same server");
    }
  }
}
