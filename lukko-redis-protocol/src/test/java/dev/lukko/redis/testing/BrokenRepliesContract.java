package dev.lukko.redis.testing;

import static dev.lukko.redis.testing.PretendedServer.bulk;
import static dev.lukko.redis.testing.Requests.answer;
import static dev.lukko.redis.testing.Requests.entry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import dev.lukko.LockException;
import dev.lukko.LockRequest;
import dev.lukko.redlock.Redlock;
import dev.lukko.spi.Failed;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeFault;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.spi.Unknown;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a node makes of replies that no server should give, whatever the driver. */
public abstract class BrokenRepliesContract {
  private static final LockEntry MINE = entry("mine", "r");

  private final PretendedServer server = new PretendedServer();

  /** A node on a server. */
  protected abstract LockNode connect(String url);

  @AfterEach
  void stop() {
    server.close();
  }

  private void lie(String command, String reply) {
    lie(words -> words.get(0).equalsIgnoreCase(command) ? reply : null);
  }

  private void lie(Function<List<String>, String> lies) {
    server.lies.set(lies);
  }

  private static GrantReply ask(LockNode node) {
    return answer(
        node.grant(
            new GrantRequest(MINE, Requests.TTL, 5).seen("alone 1 0 5c21b7ed0000 5c21b7ed0000")));
  }

  private void recovers(LockNode node) {
    lie(words -> null);
    await().until(() -> ask(node) instanceof GrantReply.Granted);
    assertThat(answer(node.release(MINE))).isInstanceOf(ReleaseReply.Released.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "*100000000\r\n",
        "*2147483647\r\n",
        "$2000000000\r\n",
        "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n",
        "*many\r\n",
      })
  void replyThatAnnouncesMoreThanMemoryIsAFaultAndTheNodeRecovers(String reply) {
    try (LockNode node = connect(server.url())) {
      assertThat(ask(node)).isEqualTo(new GrantReply.Granted(5));
      lie("EVALSHA", reply);
      assertThat(ask(node)).isInstanceOf(Unknown.class);
      recovers(node);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"*100000000\r\n", "$2000000000\r\n", "$-1\r\n", ":1\r\n", "*0\r\n", "+OK\r\n"})
  void handshakeThatCannotBeReadIsAFaultAndTheNodeJoinsLater(String reply) {
    for (String command : List.of("INFO", "TIME", "CONFIG", "HGETALL")) {
      lie(command, reply);
      try (LockNode node = connect(server.url())) {
        assertThat(answer(node.status()).state()).isNotNull();
        assertThat(ask(node)).isInstanceOfAny(NodeFault.class, GrantReply.Granted.class);
        recovers(node);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "-5", "x", "99999999999999999999", "1e3"})
  void numberThatCannotBeReadIsAFault(String number) {
    for (String field : List.of("uptime_in_seconds", "run_id")) {
      lie(
          "INFO",
          PretendedServer.info(field, field.equals("run_id") ? number + " \u001b" : number));
      try (LockNode node = connect(server.url())) {
        assertThat(ask(node)).isInstanceOf(Failed.class);
      }
    }
    lie("TIME", "*2\r\n" + bulk(number) + bulk("0"));
    try (LockNode node = connect(server.url())) {
      assertThat(answer(node.status()).state()).isEqualTo(NodeStatus.State.UNREACHABLE);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "+OK\r\n",
        "$-1\r\n",
        "$1\r\n0\r\n",
        "$2\r\n-1\r\n",
        "$16\r\n9007199254740992\r\n",
        "$19\r\n9223372036854775807\r\n",
        "$20\r\n99999999999999999999\r\n",
        ":9007199254740992\r\n",
        "*0\r\n",
        "*-1\r\n",
        "*1\r\n:1\r\n",
        "*2\r\n:1\r\n:0\r\n",
        "*2\r\n:1\r\n$1\r\nx\r\n",
        "*2\r\n:1\r\n:9223372036854775807\r\n",
        "*6\r\n:0\r\n:0\r\n:99\r\n$9\r\nexclusive\r\n$1\r\nx\r\n:1\r\n",
        "*6\r\n:0\r\n:0\r\n:0\r\n$9\r\nexclusive\r\n$1\r\nx\r\n:1\r\n",
        "*6\r\n:0\r\n:-7\r\n:1\r\n$9\r\nexclusive\r\n$1\r\nx\r\n:9223372036854775807\r\n",
        "*3\r\n:3\r\n$4\r\nevil\r\n:9223372036854775807\r\n",
        "*1\r\n*1\r\n*1\r\n:1\r\n",
      })
  void grantThatCannotBeTrueNeverMakesALease(String reply) {
    lie(
        words ->
            words.get(0).toUpperCase(Locale.ROOT).startsWith("EVAL") && words.size() > 8
                ? reply
                : null);
    try (Redlock locks = Redlock.builder().node(connect(server.url())).build()) {
      LockRequest once =
          LockRequest.builder("r").ttl(Duration.ofSeconds(30)).maxWait(Duration.ZERO).build();
      assertThat(catchThrowable(() -> locks.acquire(once))).isInstanceOf(LockException.class);
    }
  }

  @Test
  void errorOfAServerIsShownOnOneLineWithoutEscapes() {
    try (LockNode node = connect(server.url())) {
      lie("EVALSHA", "-ERR \u001b]0;owned\u0007 job is free\r\n");
      assertThat(((NodeFault) ask(node)).detail())
          .isEqualTo("ERR: \\u001b]0;owned\\u0007 job is free");
    }
    lie("INFO", PretendedServer.info("role", "slave\u001b[2J"));
    try (LockNode node = connect(server.url())) {
      assertThat(answer(node.status()).toString() + node + ask(node)).doesNotContain("\u001b");
    }
  }

  @Test
  void holderWhoseNameIsEscapesIsShownWithoutThem() {
    try (LockNode node = connect(server.url())) {
      lie(
          "EVALSHA",
          "*6\r\n:0\r\n:4\r\n:1\r\n" + bulk("exclusive") + bulk("\u001b[2J\nfree") + ":1000\r\n");
      assertThat(((GrantReply.Refused) ask(node)).holder().description())
          .isEqualTo("a foreign owner '\\u001b[2J\\nfree'");
      lie("EVALSHA", "*6\r\n:0\r\n:4\r\n:1\r\n" + bulk("ha\u001b[2Jsh") + bulk("") + ":1000\r\n");
      assertThat(((GrantReply.Refused) ask(node)).holder().description())
          .doesNotContain("\u001b")
          .contains("ha\\u001b[2Jsh");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "-NOPERM this user has no permissions to run the 'evalsha' command or its subcommand\r\n",
        "-NOPERM User app has no permissions to run the 'evalsha' command\r\n",
        "-ERR unknown command 'EVALSHA', with args beginning with: \r\n",
        "-ERR unknown command `EVALSHA`, with args beginning with: \r\n",
      })
  void serverWithoutEvalshaGetsTheTextsAtOnceFromThenOn(String refusal) {
    lie("EVALSHA", refusal);
    try (LockNode node = connect(server.url())) {
      for (int i = 0; i < 3; i++) {
        assertThat(ask(node)).isEqualTo(new GrantReply.Granted(5));
        assertThat(answer(node.release(MINE))).isInstanceOf(ReleaseReply.Released.class);
      }
      assertThat(server.commands()).containsOnlyOnce("EVALSHA").contains("EVAL");
    }
  }

  @Test
  void serverWithoutHelloIsConnected() {
    try (LockNode node = connect(server.url().replace("redis://", "redis://:secret@"))) {
      assertThat(ask(node)).isEqualTo(new GrantReply.Granted(5));
    }
    assertThat(server.commands()).contains("AUTH");
  }
}
