package dev.lukko.jedis;

import dev.lukko.redis.testing.NodeErrorsContract;
import java.time.Duration;

class JedisNodeErrorsTest extends NodeErrorsContract {

  @Override
  protected JedisNode connect(String url, Duration commandTimeout) {
    return JedisNode.builder().commandTimeout(commandTimeout).connect(url);
  }
}
