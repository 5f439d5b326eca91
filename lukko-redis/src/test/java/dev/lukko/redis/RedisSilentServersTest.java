package dev.lukko.redis;

import dev.lukko.redis.testing.SilentServersContract;
import java.time.Duration;

class RedisSilentServersTest extends SilentServersContract {

  @Override
  protected RedisNode connect(String url, Duration commandTimeout) {
    return RedisNode.builder().commandTimeout(commandTimeout).connect(url);
  }
}
