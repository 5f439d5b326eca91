package dev.lukko.compat;

import dev.lukko.redis.RedisNode;
import dev.lukko.spi.LockNode;
import java.time.Duration;

class LettuceLineTest extends DriverLineContract {

  @Override
  LockNode connect(String url) {
    return RedisNode.builder()
        .connectTimeout(Duration.ofSeconds(10))
        .commandTimeout(Duration.ofSeconds(1))
        .connect(url);
  }
}
