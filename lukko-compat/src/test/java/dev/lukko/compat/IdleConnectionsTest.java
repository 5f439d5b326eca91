package dev.lukko.compat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lukko.jedis.JedisNode;
import dev.lukko.redis.RedisNode;
import dev.lukko.redis.testing.Requests;
import dev.lukko.spi.LockNode;
import dev.lukko.testkit.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** Connections that are idle are probed by the operating system, as it says itself. */
@Tag("driver-line")
@EnabledOnOs(value = OS.LINUX, disabledReason = "the timers of sockets are read from /proc/net")
class IdleConnectionsTest {
  private static final String ESTABLISHED = "01";
  private static final String KEEP_ALIVE = "02";

  /** In the system's unit; the default is two hours. */
  private static final long FIVE_SECONDS = 500;

  @Test
  void lettuce() {
    assertProbed(RedisNode::connect);
  }

  @Test
  void jedis() {
    assertProbed(JedisNode::connect);
  }

  private static void assertProbed(Function<String, LockNode> connect) {
    try (RedisServer server = RedisServer.start();
        LockNode node = connect.apply(server.url())) {
      Requests.admit(node);
      await()
          .untilAsserted(
              () ->
                  assertThat(connectionsTo(server.port()))
                      .isNotEmpty()
                      .allSatisfy(
                          timer -> {
                            assertThat(timer[0]).isEqualTo(KEEP_ALIVE);
                            assertThat(Long.parseLong(timer[1], 16))
                                .isLessThanOrEqualTo(FIVE_SECONDS);
                          }));
    }
  }

  /** For each, the kind of its timer, and when that is over. */
  private static List<String[]> connectionsTo(int port) throws IOException {
    String suffix = String.format(Locale.ROOT, ":%04X", port);
    return Stream.concat(lines("tcp"), lines("tcp6"))
        .map(line -> line.strip().split("\\s+"))
        .filter(fields -> fields[2].endsWith(suffix) && fields[3].equals(ESTABLISHED))
        .map(fields -> fields[5].split(":"))
        .toList();
  }

  private static Stream<String> lines(String protocol) throws IOException {
    Path file = Path.of("/proc/net", protocol);
    return Files.exists(file) ? Files.readAllLines(file).stream().skip(1) : Stream.empty();
  }
}
