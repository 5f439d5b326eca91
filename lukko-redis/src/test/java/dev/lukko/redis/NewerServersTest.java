package dev.lukko.redis;

import static dev.lukko.redis.testing.Requests.entry;
import static dev.lukko.redis.testing.Requests.extend;
import static dev.lukko.redis.testing.Requests.granted;
import static dev.lukko.redis.testing.Requests.release;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.lukko.redis.testing.Requests;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.testkit.MonitorTap;
import dev.lukko.testkit.RedisServer;
import dev.lukko.testkit.RedisServer.Binary;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The same on real servers: the bundled one, and newer ones where this machine has them. */
class NewerServersTest {

  @ParameterizedTest
  @EnumSource
  void newerServerIsAskedByScriptsAsOlderOnesAre(Binary binary) throws InterruptedException {
    assumeTrue(binary.find().isPresent(), () -> "this machine has no " + binary);
    LockEntry entry = entry("mine", "r");
    try (RedisServer server = RedisServer.builder().binary(binary).start();
        RedisNode node = Requests.admitted(RedisNode.connect(server.url()));
        MonitorTap tap = MonitorTap.on(server)) {
      CountDownLatch hints = new CountDownLatch(2); // subscribed, and released
      try (LockNode.Watch watch = node.watch("r", hints::countDown)) {
        assertThat(watch).isNotNull();
        await().until(() -> hints.getCount() < 2);
        granted(node, entry, 5);
        assertThat(extend(node, entry, 50_000)).isEqualTo(new ExtendReply.Extended());
        assertThat(server.command("PTTL", "lukko:{r}")).asString().matches("49\\d{3}|50000");
        assertThat(release(node, entry)).isEqualTo(new ReleaseReply.Released(1));
        assertThat(hints.await(30, TimeUnit.SECONDS)).isTrue();
      }
      assertThat(server.command("EXISTS", "lukko:{r}")).isEqualTo(0L);
      assertThat(tap.lines())
          .anyMatch(line -> line.contains("\"EVALSHA\""))
          .noneMatch(line -> line.matches(".*\"(IFEQ|DELEX|DELIFEQ)\".*"));
    }
  }
}
