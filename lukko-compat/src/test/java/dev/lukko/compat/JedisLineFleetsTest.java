package dev.lukko.compat;

import dev.lukko.jedis.JedisNode;
import dev.lukko.redis.testing.FleetsContract;
import dev.lukko.spi.LockNode;
import org.junit.jupiter.api.Tag;

@Tag("driver-line")
class JedisLineFleetsTest extends FleetsContract {

  @Override
  protected LockNode connect(String url) {
    return JedisNode.connect(url);
  }
}
