package dev.lukko.jedis;

import dev.lukko.redis.testing.SilentServersContract;
import java.time.Duration;

class JedisSilentServersTest extends SilentServersContract {

  @Override
  protected JedisNode connect(String url, Duration commandTimeout) {
    return JedisNode.builder().commandTimeout(commandTimeout).connect(url);
  }
}
