package dev.lukko.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.lettuce.core.RedisURI;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Addresses that cannot be used, before anything is started. The build switches the native
 * transport off, as if its library were not there.
 */
@Tag("own-process")
class UnixSocketWithoutTransportTest {

  @AfterEach
  void nothingWasStarted() {
    assertThat(Thread.getAllStackTraces().keySet())
        .noneMatch(thread -> thread.getName().startsWith("lukko-redis"));
  }

  @Test
  void oneBadUrlOfSeveralIsRefusedBeforeAnyConnection() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> RedisNode.connectAll("redis://127.0.0.1:1", "nonsense://x"));
  }

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
  }
}
