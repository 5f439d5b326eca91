package dev.lukko.compat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.lukko.jedis.JedisNode;
import dev.lukko.redis.RedisNode;
import java.io.IOException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("old-drivers")
class OldDriversTest {

  @Test
  void lettuceThatIsTooOldIsRefusedWhenANodeIsBuilt() throws IOException {
    assertThat(Drivers.found("io.lettuce/lettuce-core")).isEqualTo(Drivers.wanted("lettuce"));
    assertThatIllegalStateException()
        .isThrownBy(() -> RedisNode.connect("redis://127.0.0.1:1"))
        .withMessageContainingAll("Lettuce", Drivers.wanted("lettuce"), "6.6 or later");
  }

  @Test
  void jedisThatIsTooOldIsRefusedWhenANodeIsBuilt() throws IOException {
    assertThat(Drivers.found("redis.clients/jedis")).isEqualTo(Drivers.wanted("jedis"));
    assertThatIllegalStateException()
        .isThrownBy(() -> JedisNode.connect("redis://127.0.0.1:1"))
        .withMessageContainingAll("Jedis", Drivers.wanted("jedis"), "6.0 or later");
  }
}
