package dev.lukko.compat;

import dev.lukko.redis.RedisNode;
import dev.lukko.redis.testing.FleetsContract;
import dev.lukko.spi.LockNode;
import org.junit.jupiter.api.Tag;

@Tag("driver-line")
class LettuceLineFleetsTest extends FleetsContract {

  @Override
  protected LockNode connect(String url) {
    return RedisNode.connect(url);
  }
}
