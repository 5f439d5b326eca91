package dev.lukko.redis;

import static dev.lukko.redis.Requests.TTL;
import static dev.lukko.redis.Requests.confirm;
import static dev.lukko.redis.Requests.entry;
import static dev.lukko.redis.Requests.extend;
import static dev.lukko.redis.Requests.granted;
import static dev.lukko.redis.Requests.inspect;
import static dev.lukko.redis.Requests.refused;
import static dev.lukko.redis.Requests.release;
import static dev.lukko.redis.Requests.repair;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.OwnerValue;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.testkit.MonitorTap;
import dev.lukko.testkit.RedisServer;
import dev.lukko.testkit.rows.FaultRow;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RedisNodeVerbsTest {
  private static final long MAX = GrantRequest.MAX_COUNTER;

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
  void grantOfFreeResourceStoresOwnerTtlAndCounter() {
    assertThat(granted(node, entry("alice", "r"), 500)).isEqualTo(500);

    assertThat(server.command("GET", "lukko:{r}")).isEqualTo("alice");
    assertThat((Long) server.command("PTTL", "lukko:{r}")).isBetween(1L, TTL);
    assertThat(server.command("GET", "lukko:{r}:token")).isEqualTo("500");
    assertThat((Long) server.command("PTTL", "lukko:{r}:token"))
        .isBetween(Duration.ofDays(6).toMillis(), Duration.ofDays(7).toMillis());
  }

  @Test
  void counterTakesProposalOnlyIfHigherElseOneMore() {
    granted(node, entry("a", "r"), 500);
    release(node, entry("a", "r"));
    assertThat(granted(node, entry("b", "r"), 500)).isEqualTo(501);
    release(node, entry("b", "r"));
    assertThat(granted(node, entry("c", "r"), 3)).isEqualTo(502);
    release(node, entry("c", "r"));
    assertThat(granted(node, entry("d", "r"), 900)).isEqualTo(900);
  }

  @Test
  void numbersAreExactUpToTheHighestCounter() {
    assertThat(granted(node, entry("a", "r"), MAX - 2)).isEqualTo(MAX - 2);
    assertThat(server.command("GET", "lukko:{r}:token")).isEqualTo(Long.toString(MAX - 2));
    release(node, entry("a", "r"));
    assertThat(granted(node, entry("b", "r"), 1)).isEqualTo(MAX - 1);
    release(node, entry("b", "r"));
    assertThat(granted(node, entry("c", "r"), MAX)).isEqualTo(MAX);
    assertThat(inspect(node, "r").counter()).hasValue(MAX);
  }

  @Test
  void refusalTellsCounterHolderAndRemainingAndChangesNothing() {
    String owner =
        OwnerValue.create(
            new SecureRandom(), Instant.parse("2026-01-31T12:00:00.5Z"), "4711@web-1 billing");
    granted(node, entry(owner, "r"), 500);
    GrantReply.Refused refused = refused(node, entry("other", "r"), 900);

    assertThat(refused.counter()).isEqualTo(500);
    assertThat(refused.holder().description()).isEqualTo("4711@web-1 billing");
    assertThat(refused.holder().since()).hasValue(Instant.parse("2026-01-31T12:00:00.5Z"));
    assertThat(refused.holder().remaining().orElseThrow())
        .isBetween(Duration.ofMillis(1), Duration.ofMillis(TTL));
    assertThat(server.command("GET", "lukko:{r}")).isEqualTo(owner);
    assertThat(server.command("GET", "lukko:{r}:token")).isEqualTo("500");
  }

  @FaultRow(16)
  @Test
  void repeatedGrantGetsStoredAnswerAndRaisesNothing() {
    granted(node, entry("a", "r"), 500);
    assertThat(granted(node, entry("a", "r"), 500)).isEqualTo(500);
    assertThat(granted(node, entry("a", "r"), 900)).isEqualTo(500);
    assertThat(server.command("GET", "lukko:{r}:token")).isEqualTo("500");
  }

  @Test
  void ownersAreComparedExactly() {
    granted(node, entry("foobar", "r"), 1);
    for (String other : List.of("foo", "foobar ", "Foobar", "foobarx")) {
      refused(node, entry(other, "r"), 2);
      assertThat(extend(node, entry(other, "r"), TTL)).isInstanceOf(ExtendReply.HeldByOther.class);
      assertThat(release(node, entry(other, "r"))).isEqualTo(new ReleaseReply.NotHeld());
    }
    assertThat(server.command("GET", "lukko:{r}")).isEqualTo("foobar");
  }

  @Test
  void expiredEntryIsAsGoodAsNoneAndItsCounterStays() {
    assertThat(Requests.answer(node.grant(new GrantRequest(entry("a", "r"), 20, 500))))
        .isEqualTo(new GrantReply.Granted(500));
    await().until(() -> server.command("GET", "lukko:{r}") == null);
    assertThat(granted(node, entry("b", "r"), 7)).isEqualTo(501);
    assertThat(release(node, entry("a", "r"))).isEqualTo(new ReleaseReply.NotHeld());
    assertThat(server.command("GET", "lukko:{r}")).isEqualTo("b");
  }

  @Test
  void severalResourcesAreGrantedAllOrNone() {
    granted(node, entry("x", "b"), 700);
    GrantReply.Refused refused = refused(node, entry("a", "a", "b", "c"), 100);
    assertThat(refused.counter()).isEqualTo(700);
    assertThat(refused.holder().description()).contains("x");
    assertThat(server.command("EXISTS", "lukko:{a}", "lukko:{c}", "lukko:{a}:token")).isEqualTo(0L);

    release(node, entry("x", "b"));
    assertThat(granted(node, entry("a", "a", "b", "c"), 100)).isEqualTo(701);
    assertThat(server.command("MGET", "lukko:{a}", "lukko:{b}", "lukko:{c}"))
        .isEqualTo(List.of("a", "a", "a"));
    assertThat(server.command("MGET", "lukko:{a}:token", "lukko:{b}:token", "lukko:{c}:token"))
        .isEqualTo(List.of("701", "701", "701"));
    assertThat(granted(node, entry("a", "a", "b", "c"), 999)).isEqualTo(701);
    assertThat(release(node, entry("a", "a", "b", "c"))).isEqualTo(new ReleaseReply.Released());
    assertThat(server.command("EXISTS", "lukko:{a}", "lukko:{b}", "lukko:{c}")).isEqualTo(0L);
  }

  @Test
  void confirmNeedsTheEntryAndAHigherNumber() {
    assertThat(confirm(node, entry("a", "r"), 9)).isEqualTo(new ConfirmReply.NotHeld());
    granted(node, entry("a", "r"), 500);
    assertThat(confirm(node, entry("b", "r"), 900)).isEqualTo(new ConfirmReply.NotHeld());
    assertThat(confirm(node, entry("a", "r"), 500)).isEqualTo(new ConfirmReply.Higher(500));
    assertThat(confirm(node, entry("a", "r"), 499)).isEqualTo(new ConfirmReply.Higher(500));
    assertThat(server.command("GET", "lukko:{r}:token")).isEqualTo("500");
    assertThat(confirm(node, entry("a", "r"), 501)).isEqualTo(new ConfirmReply.Confirmed());
    assertThat(server.command("GET", "lukko:{r}:token")).isEqualTo("501");
    assertThat((Long) server.command("PTTL", "lukko:{r}:token")).isGreaterThan(TTL);
    assertThat(confirm(node, entry("a", "r"), 501)).isEqualTo(new ConfirmReply.Higher(501));
  }

  @Test
  void confirmOfSeveralNeedsAllOfThem() {
    granted(node, entry("a", "p", "q"), 500);
    server.command("DEL", "lukko:{p}");
    assertThat(confirm(node, entry("a", "p", "q"), 501)).isEqualTo(new ConfirmReply.NotHeld());
    assertThat(server.command("MGET", "lukko:{p}:token", "lukko:{q}:token"))
        .isEqualTo(List.of("500", "500"));
  }

  @Test
  void extendProlongsOnlyWhatTheOwnerHolds() {
    assertThat(extend(node, entry("a", "r"), TTL)).isEqualTo(new ExtendReply.Missing());
    assertThat(server.command("EXISTS", "lukko:{r}")).isEqualTo(0L);
    granted(node, entry("a", "r"), 500);
    assertThat(extend(node, entry("a", "r"), 10 * TTL)).isEqualTo(new ExtendReply.Extended());
    assertThat((Long) server.command("PTTL", "lukko:{r}")).isGreaterThan(TTL);
    assertThat(extend(node, entry("b", "r"), TTL))
        .isInstanceOfSatisfying(
            ExtendReply.HeldByOther.class,
            other -> assertThat(other.holder().description()).contains("a"));
  }

  @Test
  void extendOfSeveralChangesNothingIfOneIsMissingOrForeign() {
    granted(node, entry("a", "p", "q"), 500);
    server.command("DEL", "lukko:{q}");
    assertThat(extend(node, entry("a", "p", "q"), 10 * TTL)).isEqualTo(new ExtendReply.Missing());
    assertThat((Long) server.command("PTTL", "lukko:{p}")).isLessThanOrEqualTo(TTL);
    server.command("SET", "lukko:{q}", "b");
    assertThat(extend(node, entry("a", "p", "q"), 10 * TTL))
        .isInstanceOf(ExtendReply.HeldByOther.class);
    assertThat(repair(node, entry("a", "p", "q"), 10 * TTL, 600))
        .isInstanceOf(ExtendReply.HeldByOther.class);
    assertThat((Long) server.command("PTTL", "lukko:{p}")).isLessThanOrEqualTo(TTL);
    assertThat(server.command("GET", "lukko:{p}:token")).isEqualTo("500");
  }

  @Test
  void repairCreatesWhatIsMissingAndRaisesCounters() {
    granted(node, entry("a", "p", "q"), 500);
    server.command("DEL", "lukko:{q}", "lukko:{q}:token");
    assertThat(repair(node, entry("a", "p", "q"), 10 * TTL, 450))
        .isEqualTo(new ExtendReply.Extended());
    assertThat(server.command("MGET", "lukko:{p}", "lukko:{q}")).isEqualTo(List.of("a", "a"));
    assertThat(server.command("MGET", "lukko:{p}:token", "lukko:{q}:token"))
        .isEqualTo(List.of("500", "450"));
    assertThat((Long) server.command("PTTL", "lukko:{p}")).isGreaterThan(TTL);
    assertThat((Long) server.command("PTTL", "lukko:{q}")).isGreaterThan(TTL);
  }

  @Test
  void releaseIsIdempotentAndKeepsTheCounter() {
    granted(node, entry("a", "r"), 500);
    assertThat(release(node, entry("a", "r"))).isEqualTo(new ReleaseReply.Released());
    assertThat(release(node, entry("a", "r"))).isEqualTo(new ReleaseReply.NotHeld());
    assertThat(server.command("GET", "lukko:{r}:token")).isEqualTo("500");
  }

  @Test
  void releaseDeletesWhatIsLeftOfSeveral() {
    granted(node, entry("a", "p", "q"), 500);
    server.command("SET", "lukko:{q}", "thief");
    assertThat(release(node, entry("a", "p", "q"))).isEqualTo(new ReleaseReply.Released());
    assertThat(server.command("GET", "lukko:{p}")).isNull();
    assertThat(server.command("GET", "lukko:{q}")).isEqualTo("thief");
  }

  @Test
  void releaseIsPublishedOnTheChannelOfItsResource() {
    try (MonitorTap tap = MonitorTap.on(server)) {
      granted(node, entry("a", "r"), 500);
      release(node, entry("a", "r"));
      release(node, entry("a", "r"));
      assertThat(tap.lines())
          .filteredOn(line -> line.contains("PUBLISH"))
          .singleElement()
          .asString()
          .contains("\"lukko:{r}:released\"");
    }
  }

  @Test
  void counterIsNeverKeptForLessThanTheTtl() {
    try (RedisNode brief =
        RedisNode.builder().counterRetention(Duration.ofSeconds(10)).connect(server.url())) {
      granted(brief, entry("a", "r"), 500);
      assertThat((Long) server.command("PTTL", "lukko:{r}:token")).isBetween(10_001L, TTL);
      assertThat(extend(brief, entry("a", "r"), 10 * TTL)).isEqualTo(new ExtendReply.Extended());
      assertThat((Long) server.command("PTTL", "lukko:{r}:token")).isGreaterThan(TTL);
      assertThat(confirm(brief, entry("a", "r"), 501)).isEqualTo(new ConfirmReply.Confirmed());
      assertThat((Long) server.command("PTTL", "lukko:{r}:token")).isGreaterThan(TTL);
    }
  }

  @Test
  void inspectionShowsHolderCounterAndFingerprint() {
    assertThat(inspect(node, "r").holders()).isEmpty();
    assertThat(inspect(node, "r").counter()).isEqualTo(OptionalLong.empty());
    granted(node, entry("secret owner value", "r"), 500);
    var inspection = inspect(node, "r");
    assertThat(inspection.holders())
        .singleElement()
        .satisfies(holder -> assertThat(holder.remaining()).isPresent());
    assertThat(inspection.counter()).hasValue(500);
    assertThat(inspection.ownerFingerprints())
        .containsExactly(OwnerValue.fingerprint("secret owner value"));
    release(node, entry("secret owner value", "r"));
    assertThat(inspect(node, "r").holders()).isEmpty();
    assertThat(inspect(node, "r").counter()).hasValue(500);
  }

  @Test
  void namesOfAnyCharactersWork() {
    for (String name : List.of("ä ö", "}", "{}", "a}b", "\\}", "日本", "x:token", "{a}:token")) {
      assertThat(granted(node, entry("a", name), 5)).isEqualTo(5);
      assertThat(release(node, entry("a", name))).isEqualTo(new ReleaseReply.Released());
    }
  }
}
