package dev.lukko.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.lettuce.core.RedisURI;
import org.junit.jupiter.api.Test;

/** The build switches the native transport off, as if its library were not there. */
class UnixSocketWithoutTransportTest {

  @Test
  void missingLibraryIsNamed() {
    assertThatIllegalArgumentException()
        .isThrownBy(
            () -> RedisNode.connectAll("redis://127.0.0.1:1", "redis-socket:///run/redis.sock"))
        .withMessageContaining("/run/redis.sock is a Unix socket")
        .withMessageContaining("io.netty:netty-transport-native-epoll");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> RedisNode.connect(RedisURI.Builder.socket("/run/redis.sock").build()))
        .withMessageContaining("io.netty:netty-transport-native-epoll");
    assertThat(Thread.getAllStackTraces().keySet())
        .noneMatch(thread -> thread.getName().startsWith("lukko-redis"));
  }
}
