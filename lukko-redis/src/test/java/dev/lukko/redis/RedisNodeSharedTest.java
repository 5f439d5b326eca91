package dev.lukko.redis;

import static dev.lukko.redis.testing.Requests.TTL;
import static dev.lukko.redis.testing.Requests.answer;
import static dev.lukko.redis.testing.Requests.confirm;
import static dev.lukko.redis.testing.Requests.entry;
import static dev.lukko.redis.testing.Requests.extend;
import static dev.lukko.redis.testing.Requests.granted;
import static dev.lukko.redis.testing.Requests.inspect;
import static dev.lukko.redis.testing.Requests.reader;
import static dev.lukko.redis.testing.Requests.refused;
import static dev.lukko.redis.testing.Requests.release;
import static dev.lukko.redis.testing.Requests.repair;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lukko.redis.testing.Requests;
import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.testkit.RedisServer;
import dev.lukko.testkit.SoleFleet;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RedisNodeSharedTest {
  private static RedisServer server;
  private static RedisNode node;

  @BeforeAll
  static void start() {
    server = RedisServer.start();
    node = RedisNode.connect(server.url());
  }

  @AfterAll
  static void stop() {
    node.close();
    server.close();
  }

  @BeforeEach
  void empty() {
    server.command("FLUSHALL");
    Requests.admit(node);
  }

  @Test
  void writerWaitsForTheLastReader() {
    granted(node, reader("a", "r"), 1);
    assertThat(answer(SoleFleet.grant(node, new GrantRequest(reader("b", "r"), 10 * TTL, 2))))
        .isInstanceOf(GrantReply.Granted.class);
    GrantReply.Refused refused = refused(node, entry("w", "r"), 3);
    assertThat(refused.holder().description()).contains("b");
    assertThat(refused.holder().remaining().orElseThrow())
        .isBetween(Duration.ofMillis(TTL + 1), Duration.ofMillis(10 * TTL));
    assertThat(release(node, reader("b", "r"))).isEqualTo(new ReleaseReply.Released());
    assertThat((Long) server.command("PTTL", "lukko:{r}")).isBetween(1L, TTL);
    refused(node, entry("w", "r"), 3);
    assertThat(release(node, reader("a", "r"))).isEqualTo(new ReleaseReply.Released());
    assertThat(server.command("EXISTS", "lukko:{r}")).isEqualTo(0L);
    assertThat(granted(node, entry("w", "r"), 3)).isEqualTo(3);
  }

  @Test
  void readerWaitsForTheWriter() {
    granted(node, entry("w", "r"), 1);
    assertThat(refused(node, reader("a", "r"), 2).holder().description()).contains("w");
    assertThat(extend(node, reader("w", "r"), TTL)).isInstanceOf(ExtendReply.HeldByOther.class);
    assertThat(release(node, reader("w", "r"))).isEqualTo(new ReleaseReply.NotHeld());
    release(node, entry("w", "r"));
    granted(node, reader("a", "r"), 2);
    assertThat(release(node, entry("a", "r"))).isEqualTo(new ReleaseReply.NotHeld());
  }

  @Test
  void readerWhoseTimeIsOverIsInNobodysWayThoughTheKeyStays() {
    answer(SoleFleet.grant(node, new GrantRequest(reader("brief", "r"), 20, 500)));
    granted(node, reader("long", "r"), 600);
    await().until(() -> inspect(node, "r").holders().size() == 1);
    assertThat(extend(node, reader("brief", "r"), TTL)).isInstanceOf(ExtendReply.Missing.class);
    assertThat(confirm(node, reader("brief", "r"), 900)).isEqualTo(new ConfirmReply.NotHeld());
    assertThat(release(node, reader("brief", "r"))).isEqualTo(new ReleaseReply.NotHeld());
    granted(node, reader("next", "r"), 601);
    assertThat(server.command("HEXISTS", "lukko:{r}", "brief")).as("tidied").isEqualTo(0L);
    release(node, reader("next", "r"));
    release(node, reader("long", "r"));
    assertThat(granted(node, entry("w", "r"), 700)).isEqualTo(700);
  }

  @Test
  void keyLivesAsLongAsTheLastReader() {
    granted(node, reader("a", "r"), 1);
    answer(SoleFleet.grant(node, new GrantRequest(reader("b", "r"), 1_000, 2)));
    assertThat((Long) server.command("PTTL", "lukko:{r}")).isGreaterThan(1_000L);
    assertThat(extend(node, reader("b", "r"), 10 * TTL)).isEqualTo(new ExtendReply.Extended());
    assertThat((Long) server.command("PTTL", "lukko:{r}")).isGreaterThan(TTL);
    assertThat(granted(node, reader("b", "r"), 99)).as("number kept").isEqualTo(1);
  }

  @Test
  void counterSaysInItsKeyWhetherAReaderWasTheLastToBeGivenItsNumber() {
    granted(node, reader("a", "r"), 500);
    assertThat(server.command("GET", "lukko:{r}:token")).isEqualTo("500r");
    confirm(node, reader("a", "r"), 501);
    assertThat(server.command("GET", "lukko:{r}:token")).isEqualTo("501r");
    repair(node, reader("a", "r"), TTL, 501);
    assertThat(server.command("GET", "lukko:{r}:token")).as("not raised").isEqualTo("501r");
    repair(node, reader("a", "r"), TTL, 502);
    assertThat(server.command("GET", "lukko:{r}:token")).isEqualTo("502");
    assertThat(granted(node, reader("b", "r"), 1)).isEqualTo(503);
    release(node, reader("a", "r"));
    release(node, reader("b", "r"));
    assertThat(server.command("GET", "lukko:{r}:token")).isEqualTo("503r");
    assertThat(granted(node, entry("w", "r"), 1)).isEqualTo(504);
    assertThat(server.command("GET", "lukko:{r}:token")).isEqualTo("504");
    assertThat(inspect(node, "r").counter()).hasValue(504);
  }

  @Test
  void confirmAndRepairWorkForReaders() {
    granted(node, reader("a", "r"), 500);
    granted(node, reader("b", "r"), 600);
    assertThat(confirm(node, reader("a", "r"), 499)).isEqualTo(new ConfirmReply.Higher(500));
    assertThat(confirm(node, reader("a", "r"), 601)).isEqualTo(new ConfirmReply.Confirmed());
    server.command("DEL", "lukko:{r}", "lukko:{r}:token");
    assertThat(repair(node, reader("a", "r"), TTL, 601)).isEqualTo(new ExtendReply.Extended());
    assertThat(server.command("GET", "lukko:{r}:token")).isEqualTo("601");
    refused(node, entry("w", "r"), 700);
    release(node, reader("a", "r"));
    granted(node, entry("w", "r"), 700);
    assertThat(repair(node, reader("a", "r"), TTL, 601))
        .isInstanceOf(ExtendReply.HeldByOther.class);
  }

  @Test
  void foreignHashCountsAsHeldForReadersToo() {
    server.command("HSET", "lukko:{r}", "some", "thing");
    assertThat(refused(node, reader("a", "r"), 2).holder().description())
        .contains("foreign key 'lukko:{r}' of type hash");
    assertThat(inspect(node, "r").holders()).hasSize(1);
  }
}
