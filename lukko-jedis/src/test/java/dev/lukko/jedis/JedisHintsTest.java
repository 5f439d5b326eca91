package dev.lukko.jedis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.testkit.RedisServer;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Connection;

class JedisHintsTest {

  /** What follows takes locks of its own, while others with those locks close the connection. */
  @Test
  void subscriptionThatComesTooLateIsToldWhileNoLockIsHeld() {
    try (RedisServer server = RedisServer.start()) {
      Connection connection = new Connection("127.0.0.1", server.port());
      connection.connect();
      Queue<Runnable> writes = new ArrayDeque<>();
      JedisHints hints =
          new JedisHints(new MortalConnection(connection, () -> {}), writes::add, "lukko-test");
      CompletableFuture<Boolean> openWhenTold =
          hints
              .subscribe(List.of("channel"))
              .handle(
                  (done, error) ->
                      CompletableFuture.supplyAsync(hints::isOpen)
                          .orTimeout(30, TimeUnit.SECONDS)
                          .join())
              .toCompletableFuture();
      hints.close();
      writes.remove().run();
      assertThat(openWhenTold).isCompletedWithValue(false);
    }
  }
}
