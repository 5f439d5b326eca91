package dev.lukko.jedis;

import dev.lukko.redis.format.RedisKeyFormat;
import dev.lukko.testkit.contract.LockNodeContract;
import dev.lukko.testkit.contract.RedisStore;
import dev.lukko.testkit.contract.StoreUnderTest;
import java.time.Duration;

/** A client that is no RedisClient, and tries its own commands again. */
class JedisNodeOverRetryingClientContractTest extends LockNodeContract {

  @Override
  protected StoreUnderTest openStore() {
    return RedisStore.start(
        url ->
            JedisNode.builder()
                .connectTimeout(Duration.ofSeconds(10))
                .commandTimeout(Duration.ofSeconds(3))
                .closeClient(true)
                .over(Clients.retrying(url)),
        RedisKeyFormat.PREFIXED::counter);
  }
}
