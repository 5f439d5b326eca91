package dev.lukko.jdbc;

import static dev.lukko.jdbc.JdbcNodeContract.entry;
import static dev.lukko.jdbc.JdbcNodeContract.now;
import static dev.lukko.jdbc.JdbcNodeContract.reader;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lukko.spi.GrantReply.Granted;
import dev.lukko.spi.GrantRequest;
import dev.lukko.time.Ticker;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Counters go away after the retention, and not before. */
class PurgeTest {
  private static final int OLD_ROWS = 2_345;

  private static void insertOld(TestDatabase database) throws SQLException {
    try (Connection connection = database.source().getConnection();
        PreparedStatement insert =
            connection.prepareStatement(
                "INSERT INTO lukko_lock (name, owner, expires_at, counter, grant_counter)"
                    + " VALUES (?, NULL, 1, 5, 5)")) {
      connection.setAutoCommit(false);
      for (int i = 0; i < OLD_ROWS; i++) {
        database.dialect().traits().setText(insert, 1, "once-" + i);
        insert.addBatch();
      }
      insert.executeBatch();
      connection.commit();
      connection.setAutoCommit(true);
    }
  }

  private static long rows(TestDatabase database) {
    return database.number("SELECT COUNT(*) FROM lukko_lock WHERE name <> ?", "");
  }

  @ParameterizedTest
  @EnumSource
  void purge_deletesWhatNobodyHasHeldForTheRetention_andNothingElse(Dialect dialect)
      throws SQLException {
    TestDatabase database = Databases.of(dialect);
    insertOld(database);
    try (JdbcNode node = database.node().name("n").requestTimeout(Duration.ofSeconds(30)).build()) {
      now(node.grant(new GrantRequest(entry("a", "held"), 60_000, 7)));
      now(node.grant(new GrantRequest(entry("a", "released"), 60_000, 8)));
      now(node.release(entry("a", "released")));
      now(node.grant(new GrantRequest(reader("a", "read"), 60_000, 9)));
      database.update("UPDATE lukko_lock SET expires_at = 0 WHERE name = ?", "read");

      assertThat(now(node.purge())).isEqualTo(OLD_ROWS);

      assertThat(rows(database)).isEqualTo(3);
      assertThat(database.counter("released")).isEqualTo(8);
      assertThat(database.holders("read")).isEqualTo(1);
      assertThat(now(node.purge())).isZero();
    }
  }

  @ParameterizedTest
  @EnumSource
  void counterThatAFastClockHasPutAhead_isKept_sinceTheNextClientsWouldProposeALowerOne(
      Dialect dialect) {
    TestDatabase database = Databases.of(dialect);
    Duration retention = Duration.ofDays(1);
    try (JdbcNode node = database.node().name("n").counterRetention(retention).build()) {
      long now = Ticker.system().wallMicros();
      long ahead = now + Duration.ofDays(400).toNanos() / 1_000;
      now(node.grant(new GrantRequest(entry("a", "ahead"), 60_000, ahead)));
      now(node.grant(new GrantRequest(entry("a", "past"), 60_000, now - 2 * 86_400_000_000L)));
      for (String name : new String[] {"ahead", "past"}) {
        now(node.release(entry("a", name)));
        database.expire(name);
      }

      assertThat(now(node.purge())).isEqualTo(1);

      assertThat(now(node.grant(new GrantRequest(entry("b", "ahead"), 60_000, now))))
          .isEqualTo(new Granted(ahead + 1));
      assertThat(now(node.grant(new GrantRequest(entry("b", "past"), 60_000, now))))
          .isEqualTo(new Granted(now));
    }
  }

  @ParameterizedTest
  @EnumSource
  void purge_keepsTheCounterOfReadersFromTheirLastHoldOn(Dialect dialect) throws SQLException {
    TestDatabase database = Databases.of(dialect);
    try (JdbcNode node = database.node().name("n").requestTimeout(Duration.ofSeconds(30)).build()) {
      now(node.grant(new GrantRequest(reader("a", "read"), 60_000, 9)));
      database.update("UPDATE lukko_lock SET expires_at = 1 WHERE name = ?", "read");
      now(node.grant(new GrantRequest(reader("b", "read"), 60_000, 9)));
      now(node.release(reader("a", "read")));
      now(node.release(reader("b", "read")));

      assertThat(now(node.purge())).isZero();

      assertThat(database.counter("read")).isEqualTo(9);
    }
  }

  @Test
  void nodeThatIsUsed_purgesByItself() throws SQLException {
    TestDatabase database = Databases.h2();
    insertOld(database);
    try (JdbcNode node = database.node().name("n").requestTimeout(Duration.ofSeconds(30)).build()) {
      for (int i = 0; rows(database) > 1 && i < 10_000; i++) {
        now(node.grant(new GrantRequest(entry("a", "held"), 60_000, 7)));
      }
      await().until(() -> rows(database) == 1);
    }
  }

  @Test
  void counterOfARetentionThatIsOver_isForgotten_andBeginsAtTheProposal() {
    TestDatabase database = Databases.h2();
    try (JdbcNode node = database.node().name("n").counterRetention(Duration.ofMillis(1)).build()) {
      now(node.grant(new GrantRequest(entry("a", "r"), 1, 500)));
      await()
          .until(
              () -> {
                now(node.purge());
                return rows(database) == 0;
              });
      assertThat(now(node.grant(new GrantRequest(entry("b", "r"), 60_000, 7))))
          .isEqualTo(new Granted(7));
    }
  }
}
