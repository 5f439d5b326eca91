package dev.lukko.jedis;

import dev.lukko.redis.testing.ServerErrorsContract;
import java.time.Duration;
import java.util.List;

class JedisServerErrorsTest extends ServerErrorsContract {

  @Override
  protected List<JedisNode> connect(List<String> urls) {
    return JedisNode.builder().commandTimeout(Duration.ofSeconds(10)).connectAll(urls);
  }
}
