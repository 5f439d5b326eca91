package dev.lukko.redis;

import dev.lukko.redis.testing.NodeErrorsContract;
import java.time.Duration;

class RedisNodeErrorsTest extends NodeErrorsContract {

  @Override
  protected RedisNode connect(String url, Duration commandTimeout) {
    return RedisNode.builder().commandTimeout(commandTimeout).connect(url);
  }
}
