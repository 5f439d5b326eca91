package dev.lukko.redis;

import static dev.lukko.redis.testing.Requests.answer;
import static dev.lukko.redis.testing.Requests.entry;
import static dev.lukko.redis.testing.Requests.granted;
import static dev.lukko.redis.testing.Requests.release;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.lukko.redis.testing.Requests;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeStatus.State;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.testkit.RedisServer;
import io.lettuce.core.resource.EpollProvider;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A real server by its Unix socket. */
@Tag("own-process")
class UnixSocketTest {

  @BeforeAll
  static void switchOn() {
    System.setProperty("io.lettuce.core.epoll", "true"); // read when the driver first looks
    assumeTrue(EpollProvider.isAvailable(), "the native transport is for Linux on x86-64 only");
  }

  @Test
  void locksAndHintsGoThroughTheSocket() throws InterruptedException {
    try (RedisServer server =
        RedisServer.builder().config("unixsocket redis.sock").password("secret").start()) {
      String path = server.directory().resolve("redis.sock").toString();
      try (RedisNode node = RedisNode.connect("redis-socket://:secret@" + path + "?database=2")) {
        assertThat(node.name()).isEqualTo(path + "#2");
        Requests.admit(node);
        granted(node, entry("a", "r"), 5);
        CountDownLatch hints = new CountDownLatch(2); // subscribed, and released
        try (LockNode.Watch watch = node.watch("r", hints::countDown)) {
          assertThat(watch).isNotNull();
          await().until(() -> hints.getCount() < 2);
          assertThat(release(node, entry("a", "r"))).isEqualTo(new ReleaseReply.Released(1));
          assertThat(hints.await(30, TimeUnit.SECONDS)).isTrue();
        }
        assertThat(String.valueOf(server.command("CLIENT", "LIST")))
            .containsPattern("addr=redis.sock:0 .*name=lukko .*db=2 ");
        server.restart();
        await().until(() -> answer(node.status()).state() == State.UNMARKED);
      }
    }
  }
}
