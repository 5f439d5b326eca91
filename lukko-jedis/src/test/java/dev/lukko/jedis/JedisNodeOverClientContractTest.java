package dev.lukko.jedis;

import dev.lukko.redis.format.RedisKeyFormat;
import dev.lukko.testkit.contract.LockNodeContract;
import dev.lukko.testkit.contract.RedisStore;
import dev.lukko.testkit.contract.StoreUnderTest;
import java.time.Duration;
import redis.clients.jedis.RedisClient;

class JedisNodeOverClientContractTest extends LockNodeContract {

  @Override
  protected StoreUnderTest openStore() {
    return RedisStore.start(
        url ->
            JedisNode.builder()
                .connectTimeout(Duration.ofSeconds(10))
                .commandTimeout(Duration.ofSeconds(3))
                .closeClient(true)
                .over(RedisClient.create(url)),
        RedisKeyFormat.PREFIXED::counter);
  }
}
