package dev.lukko.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.lukko.Lease;
import dev.lukko.LockRequest;
import dev.lukko.redlock.Redlock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The record of a fleet that was altered by hand costs that fleet one vote, and no other a thing.
 */
class AlteredRecordsTest {

  static Stream<Arguments> alterations() {
    return Stream.of(Dialect.values())
        .flatMap(
            dialect ->
                Stream.of(
                        "record = NULL",
                        "record = name",
                        "seen = NULL",
                        "seen = name",
                        "run = NULL",
                        "run = name",
                        "votes_from = NULL",
                        "votes_from = " + Long.MAX_VALUE)
                    .map(alteration -> Arguments.of(dialect, alteration)));
  }

  @ParameterizedTest
  @MethodSource("alterations")
  @Timeout(value = 100, unit = TimeUnit.SECONDS)
  void recordThatNobodyWroteCostsItsFleetOneVoteAndOthersNothing(Dialect dialect, String alteration)
      throws Exception {
    TestDatabase database = AlteredRows.databaseThatTakesAnything(dialect);
    try (Redlock neighbour = alone(database);
        Redlock locks = AlteredRows.client(database)) {
      neighbour.acquire(request("a")).release();
      locks.acquire(request("r")).release();
      await().alias("its vote").until(() -> database.counter("r") > 0);
      assertThat(alter(database, alteration)).isEqualTo(1);

      Lease lease = locks.acquire(request("r"));
      assertThat(lease.extend(AlteredRows.TTL)).isTrue();
      lease.release();
      neighbour.acquire(request("b")).release();
      try (Redlock next = alone(database)) {
        next.acquire(request("c")).release();
      }
    }
  }

  /** The record of the fleet of three; it is told by how many nodes its key names. */
  private static int alter(TestDatabase database, String alteration) throws Exception {
    try (var connection = database.source().getConnection();
        var statement =
            connection.prepareStatement(
                "UPDATE lukko_fleet SET " + alteration + " WHERE name = ?");
        var keys = connection.createStatement().executeQuery("SELECT name FROM lukko_fleet")) {
      int altered = 0;
      while (keys.next()) {
        String key = database.dialect().traits().getText(keys, 1);
        if (key.endsWith(" 3")) {
          database.dialect().traits().setText(statement, 1, key);
          altered += statement.executeUpdate();
        }
      }
      return altered;
    }
  }

  @ParameterizedTest
  @EnumSource
  void tablesWithoutTheirIdentityAreRefusedWithTheReason(Dialect dialect) {
    TestDatabase database = Databases.of(dialect);
    database.execute("UPDATE lukko_schema SET identity = ''");
    assertThatThrownBy(() -> database.node().build())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("identity");
  }

  private static Redlock alone(TestDatabase database) {
    return Redlock.builder()
        .nodes(List.of(database.node().requestTimeout(Duration.ofSeconds(5)).build()))
        .nodeTimeout(Duration.ofSeconds(5))
        .build();
  }

  private static LockRequest request(String name) {
    return LockRequest.builder(name).ttl(AlteredRows.TTL).maxWait(Duration.ofSeconds(30)).build();
  }
}
