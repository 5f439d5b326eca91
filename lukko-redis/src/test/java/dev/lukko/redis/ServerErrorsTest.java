package dev.lukko.redis;

import dev.lukko.redis.testing.ServerErrorsContract;
import java.util.List;

class ServerErrorsTest extends ServerErrorsContract {

  @Override
  protected List<RedisNode> connect(List<String> urls) {
    return ScenarioTest.connect(urls);
  }
}
