package dev.lukko.jdbc;

import static dev.lukko.jdbc.JdbcNodeContract.entry;
import static dev.lukko.jdbc.JdbcNodeContract.now;
import static dev.lukko.jdbc.JdbcNodeContract.reader;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lukko.Holder;
import dev.lukko.spi.ExtendReply.Extended;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantReply.Granted;
import dev.lukko.spi.GrantReply.Refused;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.NodeStatus;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Entries that were written while the database's clock was 400 days ahead. */
class ClockThatWentBackTest {
  private static final long LONG_TTL = 30_000;
  private static final long SHORT_TTL = 300;
  private static final String AHEAD = Long.toString(Duration.ofDays(400).toNanos() / 1_000);

  private static JdbcNode node(TestDatabase database) {
    return database.node().name("n").requestTimeout(Duration.ofSeconds(30)).build();
  }

  private static void putClockRight(TestDatabase database, String... names) {
    for (String name : names) {
      database.update(
          "UPDATE lukko_lock SET expires_at = expires_at + "
              + AHEAD
              + ", shared_until = CASE WHEN shared_until > 0 THEN shared_until + "
              + AHEAD
              + " ELSE 0 END WHERE name = ?",
          name);
      database.update(
          "UPDATE lukko_shared SET expires_at = expires_at + " + AHEAD + " WHERE name = ?", name);
    }
  }

  private static GrantReply grant(JdbcNode node, LockEntry entry, long ttl) {
    return now(node.grant(new GrantRequest(entry, ttl, 1)));
  }

  private static List<LockEntry> holders() {
    return List.of(entry("dead", "r"), entry("dead", "r", "s"), reader("dead", "r"));
  }

  private static List<LockEntry> wanters() {
    return List.of(entry("next", "r"), entry("next", "q", "r"));
  }

  @ParameterizedTest
  @EnumSource
  void entryOfADeadHolder_claimsNoMoreThanItsTtl_andIsOverAfterThat(Dialect dialect) {
    for (LockEntry holder : holders()) {
      for (LockEntry wanter : wanters()) {
        TestDatabase database = Databases.of(dialect);
        try (JdbcNode node = node(database)) {
          assertThat(grant(node, holder, SHORT_TTL)).isInstanceOf(Granted.class);
          putClockRight(database, "r", "s");
          GrantReply refusal = grant(node, wanter, LONG_TTL);
          if (refusal instanceof Refused refused) {
            assertThat(refused.holder().remaining().orElseThrow())
                .isLessThanOrEqualTo(Duration.ofMillis(SHORT_TTL));
          }
          await().until(() -> grant(node, wanter, LONG_TTL) instanceof Granted);
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void livingHolder_keepsItsEntryForItsTtl_andExtendsIt(Dialect dialect) {
    for (LockEntry holder : holders()) {
      TestDatabase database = Databases.of(dialect);
      try (JdbcNode node = node(database)) {
        assertThat(grant(node, holder, LONG_TTL)).isInstanceOf(Granted.class);
        putClockRight(database, "r", "s");
        for (LockEntry wanter : wanters()) {
          assertThat(grant(node, wanter, LONG_TTL)).isInstanceOf(Refused.class);
        }
        assertThat(now(node.extend(holder, 2 * LONG_TTL))).isEqualTo(new Extended());
        for (Holder shown : now(node.inspect("r")).holders()) {
          assertThat(shown.remaining().orElseThrow())
              .isBetween(Duration.ofMillis(LONG_TTL), Duration.ofMillis(2 * LONG_TTL));
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void statusTellsOfEntriesThatClaimTooMuch_andALookAtThemShowsTheirTtl(Dialect dialect) {
    TestDatabase database = Databases.of(dialect);
    try (JdbcNode node = node(database)) {
      grant(node, entry("a", "r"), LONG_TTL);
      grant(node, reader("b", "s"), LONG_TTL);
      assertThat(now(node.status()).warnings()).noneMatch(text -> text.contains("clock"));
      putClockRight(database, "r", "s");

      NodeStatus status = now(node.status());

      assertThat(status.warnings())
          .anyMatch(text -> text.contains("2 entries claim more time than was given"));
      for (String name : List.of("r", "s")) {
        assertThat(now(node.inspect(name)).holders())
            .singleElement()
            .satisfies(
                holder ->
                    assertThat(holder.remaining().orElseThrow())
                        .isLessThanOrEqualTo(Duration.ofMillis(LONG_TTL)));
      }
      assertThat(now(node.status()).warnings()).noneMatch(text -> text.contains("clock"));
    }
  }
}
