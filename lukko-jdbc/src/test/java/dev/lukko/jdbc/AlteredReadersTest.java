package dev.lukko.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lukko.Lease;
import dev.lukko.LockRequest;
import dev.lukko.redlock.Redlock;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A reader's row that was altered by hand: it costs one vote of three at the most, and lets nobody
 * in beside the reader whose it was.
 */
class AlteredReadersTest {
  private static final String OF_READERS = "lukko_shared SET ";

  /** Every number of a reader's row, who it is, and until when its resource is told to be held. */
  static Stream<Arguments> alterations() {
    return Stream.of(Dialect.values())
        .flatMap(
            dialect ->
                Stream.of(
                        Stream.of("expires_at", "ttl", "grant_counter")
                            .flatMap(
                                column ->
                                    AlteredRows.numbers(dialect)
                                        .map(value -> OF_READERS + column + " = " + value)),
                        Stream.of("NULL", "''").map(text -> OF_READERS + "owner = " + text),
                        AlteredRows.words(dialect)
                            .map(value -> "lukko_lock SET shared_until = " + value))
                    .flatMap(some -> some)
                    .map(alteration -> Arguments.of(dialect, alteration)));
  }

  @ParameterizedTest
  @MethodSource("alterations")
  @Timeout(value = 100, unit = TimeUnit.SECONDS)
  void rowThatNobodyWroteCostsItsVoteAtTheMostAndLetsNobodyInBesideTheReader(
      Dialect dialect, String alteration) throws Exception {
    TestDatabase database = AlteredRows.databaseThatTakesAnything(dialect);
    try (Redlock locks = AlteredRows.client(database)) {
      Lease reader = locks.tryAcquire(shared()).orElseThrow();
      await().alias("its vote").until(() -> database.holders("r") == 1);
      database.update("UPDATE " + alteration + " WHERE name = ?", "r");

      assertNobodyGets(database, "r");
      assertNobodyGets(database, "r", "s");
      AlteredRows.look(database);
      assertThat(locks.tryAcquire(exclusive(Duration.ZERO))).isEmpty();
      Lease second = locks.tryAcquire(shared()).orElseThrow();
      assertThat(second.extend(AlteredRows.TTL)).isTrue();
      assertThat(reader.extend(AlteredRows.TTL)).isTrue();
      assertThat(reader.isValid()).isTrue();
      AlteredRows.look(database);
      second.release();
      reader.release();
      Lease writer = locks.tryAcquire(exclusive(Duration.ofSeconds(30))).orElseThrow();
      assertThat(writer.fencingToken())
          .isGreaterThan(Math.max(reader.fencingToken(), second.fencingToken()))
          .isLessThan(1L << 52);
      writer.release();
      AlteredRows.assertVotesForAnotherName(locks, database);
    }
  }

  private static void assertNobodyGets(TestDatabase database, String... names) {
    try (JdbcNode node = database.node().requestTimeout(Duration.ofSeconds(5)).build()) {
      LockEntry intruder = LockEntry.exclusive(List.of(names), "intruder");
      assertThat(
              JdbcNodeContract.now(
                  node.grant(new GrantRequest(intruder, AlteredRows.TTL.toMillis(), 5))))
          .isNotInstanceOf(GrantReply.Granted.class);
    }
  }

  private static LockRequest shared() {
    return LockRequest.builder("r")
        .shared(true)
        .ttl(AlteredRows.TTL)
        .maxWait(Duration.ZERO)
        .build();
  }

  private static LockRequest exclusive(Duration maxWait) {
    return LockRequest.builder("r").ttl(AlteredRows.TTL).maxWait(maxWait).build();
  }
}
