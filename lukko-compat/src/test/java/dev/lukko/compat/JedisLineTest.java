package dev.lukko.compat;

import dev.lukko.jedis.JedisNode;
import dev.lukko.spi.LockNode;
import java.time.Duration;

class JedisLineTest extends DriverLineContract {

  @Override
  LockNode connect(String url) {
    return JedisNode.builder()
        .connectTimeout(Duration.ofSeconds(10))
        .commandTimeout(Duration.ofSeconds(1))
        .connect(url);
  }
}
