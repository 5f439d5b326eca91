package dev.lukko.redis;

import dev.lukko.redis.format.RedisKeyFormat;
import dev.lukko.testkit.contract.LockNodeContract;
import dev.lukko.testkit.contract.RedisStore;
import dev.lukko.testkit.contract.StoreUnderTest;
import java.time.Duration;

class RedisNodeContractTest extends LockNodeContract {

  @Override
  protected StoreUnderTest openStore() {
    return RedisStore.start(
        url ->
            RedisNode.builder()
                .connectTimeout(Duration.ofSeconds(10))
                .commandTimeout(Duration.ofSeconds(3))
                .connect(url),
        RedisKeyFormat.PREFIXED::counter);
  }
}
