package dev.lukko.redis;

import static dev.lukko.redis.testing.Requests.answer;
import static dev.lukko.redis.testing.Requests.confirm;
import static dev.lukko.redis.testing.Requests.entry;
import static dev.lukko.redis.testing.Requests.extend;
import static dev.lukko.redis.testing.Requests.grant;
import static dev.lukko.redis.testing.Requests.reader;
import static dev.lukko.redis.testing.Requests.release;
import static dev.lukko.redis.testing.Requests.repair;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.redis.format.RedisKeyFormat;
import dev.lukko.redis.testing.Requests;
import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.FairTicket;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeStatus.State;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.testkit.RedisServer;
import dev.lukko.testkit.SoleFleet;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The line of least rights is enough for everything, and no word of it can be left out. */
class RedisRightsTest {
  private static final long TTL = 60_000;
  private static RedisServer server;

  @BeforeAll
  static void start() {
    server = RedisServer.start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  static List<String> words() {
    String line = RedisRights.aclSetUser("limited", RedisKeyFormat.PREFIXED, List.of());
    return List.of(line.split(" ")).stream()
        .filter(word -> word.startsWith("+") || word.startsWith("~") || word.startsWith("&"))
        .toList();
  }

  @ParameterizedTest
  @EnumSource(RedisKeyFormat.class)
  void lineOfLeastRightsIsEnough(RedisKeyFormat format) throws InterruptedException {
    String line = RedisRights.aclSetUser("limited", format, List.of("job:*"));
    assertThat(trouble(line, format, Duration.ofSeconds(30))).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("words")
  void nothingLessIsEnough(String word) throws InterruptedException {
    String line = RedisRights.aclSetUser("limited", RedisKeyFormat.PREFIXED, List.of());
    assertThat(
            trouble(
                line.replace(" " + word + " ", " ").replaceAll(" \\Q" + word + "\\E$", ""),
                RedisKeyFormat.PREFIXED,
                Duration.ofSeconds(1)))
        .isNotEmpty();
  }

  @Test
  void plainFormatNeedsTheNamesThemselves() throws InterruptedException {
    String line = RedisRights.aclSetUser("limited", RedisKeyFormat.PLAIN, List.of());
    assertThat(trouble(line, RedisKeyFormat.PLAIN, Duration.ofSeconds(1))).isNotEmpty();
  }

  /** Makes the user, uses all that a node can do, and tells what did not work. */
  private static List<String> trouble(String line, RedisKeyFormat format, Duration patience)
      throws InterruptedException {
    server.command("FLUSHALL");
    server.command(line.replace(">PASSWORD", ">secret").split(" "));
    String url = server.url().replace("redis://", "redis://limited:secret@");
    try (RedisNode node =
        RedisNode.builder().keyFormat(format).clientName("limited").connect(url)) {
      List<String> trouble = new ArrayList<>();
      if (Requests.admit(node).state() != State.VOTING) {
        return List.of("not admitted");
      }
      LockEntry entry = entry("x", "job:1");
      CountDownLatch hints = new CountDownLatch(2); // subscribed, and released
      try (LockNode.Watch watch = node.watch("job:1", hints::countDown)) {
        assertThat(watch).isNotNull();
        Awaitility.await().atMost(patience).until(() -> hints.getCount() < 2);
        check(trouble, grant(node, entry, 5), GrantReply.Granted.class);
        check(trouble, grant(node, entry("y", "job:1"), 5), GrantReply.Refused.class);
        check(trouble, confirm(node, entry, 7), ConfirmReply.Confirmed.class);
        check(trouble, extend(node, entry, TTL), ExtendReply.Extended.class);
        check(trouble, repair(node, entry, TTL, 8), ExtendReply.Extended.class);
        check(trouble, release(node, entry), ReleaseReply.Released.class);
        if (!hints.await(patience.toMillis(), TimeUnit.MILLISECONDS)) {
          trouble.add("no hint about a release");
        }
      } catch (ConditionTimeoutException silent) {
        trouble.add("no subscription");
      }
      LockEntry shared = reader("r", "job:1", "job:2");
      check(trouble, grant(node, shared, 9), GrantReply.Granted.class);
      check(trouble, extend(node, shared, TTL), ExtendReply.Extended.class);
      GrantRequest queues =
          new GrantRequest(entry("w", "job:1"), TTL, 9, new FairTicket("w", 1, TTL));
      check(trouble, answer(SoleFleet.grant(node, queues)), GrantReply.Refused.class);
      node.leave(queues.entry(), queues.ticket());
      check(trouble, release(node, shared), ReleaseReply.Released.class);
      check(trouble, grant(node, queues), GrantReply.Granted.class);
      if (Requests.inspect(node, "job:1").holders().isEmpty()) {
        trouble.add("not inspected");
      }
      check(trouble, release(node, queues.entry()), ReleaseReply.Released.class);
      try {
        Awaitility.await()
            .atMost(patience)
            .until(() -> !String.valueOf(server.command("PUBSUB", "CHANNELS")).contains("job:1"));
      } catch (ConditionTimeoutException stays) {
        trouble.add("no end of the subscription");
      }
      return trouble;
    } catch (AssertionError | RuntimeException failed) {
      return List.of(String.valueOf(failed));
    }
  }

  private static void check(List<String> trouble, Object reply, Class<?> expected) {
    if (!expected.isInstance(reply)) {
      trouble.add(reply + " rather than " + expected.getSimpleName());
    }
  }
}
