package dev.lukko.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class RedisServerTest {

  @Test
  void commandReturnsEachKindOfReply() {
    try (RedisServer server = RedisServer.start()) {
      assertThat(server.command("SET", "k", "väärt\r\n")).isEqualTo("OK");
      assertThat(server.command("GET", "k")).isEqualTo("väärt\r\n");
      assertThat(server.command("GET", "missing")).isNull();
      assertThat(server.command("DBSIZE")).isEqualTo(1L);
      assertThat(server.command("MGET", "k", "missing"))
          .isEqualTo(Arrays.asList("väärt\r\n", null));
      assertThatThrownBy(() -> server.command("LPUSH", "k", "x"))
          .isInstanceOf(RedisCommandException.class)
          .hasMessageStartingWith("WRONGTYPE");
    }
  }

  @Test
  void closeEndsProcessAndDeletesDirectory() {
    RedisServer server = RedisServer.start();
    Path directory = server.directory();
    assertThat(directory).exists();

    server.close();

    assertThat(server.isAlive()).isFalse();
    assertThat(ProcessHandle.of(server.pid())).isEmpty();
    assertThat(directory).doesNotExist();
    server.close();
  }

  @Test
  void closeEndsPausedProcess() {
    RedisServer server = RedisServer.start();
    server.pause();

    server.close();

    assertThat(server.isAlive()).isFalse();
  }

  @Test
  void restartKeepsPortAndAppendOnlyData() {
    try (RedisServer server = RedisServer.builder().appendOnly().start()) {
      server.command("SET", "k", "v");
      int port = server.port();
      long pid = server.pid();
      server.kill();
      assertThat(server.isAlive()).isFalse();
      assertThatThrownBy(() -> server.command("PING")).isInstanceOf(UncheckedIOException.class);

      server.restart();

      assertThat(server.port()).isEqualTo(port);
      assertThat(server.pid()).isNotEqualTo(pid);
      assertThat(server.command("GET", "k")).isEqualTo("v");
    }
  }

  @Test
  void restartWithoutAppendOnlyForgets() {
    try (RedisServer server = RedisServer.start()) {
      server.command("SET", "k", "v");
      server.restart();
      assertThat(server.command("GET", "k")).isNull();
    }
  }

  @Test
  void powerLossForgetsWhatCameAfterTheCut() {
    try (RedisServer server = RedisServer.builder().appendOnly().start()) {
      server.command("SET", "before", "1");
      long size = server.appendOnlyFileSizeBytes();
      server.command("SET", "after", "1");
      assertThatThrownBy(() -> server.truncateAppendOnlyFile(size))
          .isInstanceOf(IllegalStateException.class);
      server.kill();
      assertThatThrownBy(() -> server.truncateAppendOnlyFile(size + 1_000))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("sizeBytes " + (size + 1_000));

      server.truncateAppendOnlyFile(size);
      server.restart();

      assertThat(server.command("GET", "before")).isEqualTo("1");
      assertThat(server.command("GET", "after")).isNull();
    }
  }

  @Test
  void pausedServerAnswersAfterResume() {
    try (RedisServer server = RedisServer.start()) {
      server.pause();
      CompletableFuture<Object> reply =
          CompletableFuture.supplyAsync(() -> server.command("INCR", "k"));
      assertThat(stateOf(server)).isEqualTo("T");
      assertThat(reply).isNotDone();

      server.resume();

      assertThat(reply).succeedsWithin(5, TimeUnit.SECONDS).isEqualTo(1L);
    }
  }

  @Test
  void stopShutsDownPausedServerInAnOrderlyWay() throws IOException {
    try (RedisServer server = RedisServer.start()) {
      server.pause();
      server.stop();
      assertThat(server.isAlive()).isFalse();
      assertThat(Files.readString(server.directory().resolve("redis.log")))
          .contains("Redis is now ready to exit");
      assertThatThrownBy(server::pause).isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void passwordIsAskedForAndSent() throws IOException {
    try (RedisServer server = RedisServer.builder().password("s3cret").start()) {
      assertThat(server.command("PING")).isEqualTo("PONG");
      assertThat(server.url()).doesNotContain("s3cret");
      assertThat(server.toString()).doesNotContain("s3cret");
      try (RespConnection stranger =
          new RespConnection(server.port(), null, Duration.ofSeconds(5))) {
        assertThatThrownBy(() -> stranger.call("PING"))
            .isInstanceOf(RedisCommandException.class)
            .hasMessageStartingWith("NOAUTH");
      }
    }
  }

  @Test
  void configLinesWinOverDefaults() {
    try (RedisServer server = RedisServer.builder().config("maxmemory 3mb").start()) {
      assertThat(server.command("CONFIG", "GET", "maxmemory"))
          .isEqualTo(List.of("maxmemory", "3145728"));
    }
  }

  @Test
  void badConfigFailsWithTheEndOfTheLogAndLeavesNothing() {
    assertThatThrownBy(() -> RedisServer.builder().config("no-such-option 1").start())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("no-such-option");
  }

  @Test
  void chosenPortIsWaitedFor() throws IOException {
    CompletableFuture<RedisServer> start;
    int port;
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = taken.getLocalPort();
      start = CompletableFuture.supplyAsync(() -> RedisServer.builder().port(port).start());
      taken.accept().close(); // the look whether the server answers: the start is under way
      assertThat(start).isNotDone();
    }
    try (RedisServer server = start.join()) {
      assertThat(server.port()).isEqualTo(port);
      assertThat(server.command("PING")).isEqualTo("PONG");
    }
  }

  @Test
  void serversStartTogetherOnDifferentPorts() {
    List<RedisServer> all;
    try (RedisServers servers = RedisServers.start(5, options -> options.appendOnly())) {
      all = servers.all();
      assertThat(all).extracting(RedisServer::port).doesNotHaveDuplicates().hasSize(5);
      assertThat(servers.urls()).contains(servers.get(4).url());
      all.forEach(server -> assertThat(server.appendOnlyFileSizeBytes()).isNotNegative());
    }
    assertThat(all).noneMatch(RedisServer::isAlive);
  }

  @Test
  void oneFailedStartClosesTheOthers() {
    int[] count = {0};
    assertThatThrownBy(
            () ->
                RedisServers.start(
                    3, options -> options.config(count[0]++ == 1 ? "nonsense 1" : "maxmemory 0")))
        .isInstanceOf(IllegalStateException.class)
        .hasStackTraceContaining("nonsense");
    assertThat(ProcessHandle.current().children().filter(ProcessHandle::isAlive)).isEmpty();
  }

  @Test
  void binaryOnPathIsEmptyOrRunnable() {
    for (RedisServer.Binary binary : RedisServer.Binary.values()) {
      if (binary.find().isPresent()) {
        try (RedisServer server = RedisServer.builder().binary(binary).start()) {
          assertThat(server.command("PING")).isEqualTo("PONG");
        }
      } else {
        assertThat(binary).isNotEqualTo(RedisServer.Binary.BUNDLED);
        assertThatThrownBy(() -> RedisServer.builder().binary(binary).start())
            .isInstanceOf(IllegalStateException.class)
            .hasMessageContaining(binary.name());
      }
    }
  }

  private static String stateOf(RedisServer server) {
    try {
      String stat = Files.readString(Path.of("/proc/" + server.pid() + "/stat"));
      return stat.substring(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3);
    } catch (IOException noProc) {
      return "T";
    }
  }
}
