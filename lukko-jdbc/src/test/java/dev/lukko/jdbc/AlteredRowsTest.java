package dev.lukko.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.Lease;
import dev.lukko.LockRequest;
import dev.lukko.redlock.Redlock;
import dev.lukko.spi.Failed;
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
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A database whose rows were altered by hand is one bad node of three: it costs its vote at the
 * most, never the lock, never a token, never a call that does not end.
 */
class AlteredRowsTest {

  /** Every number of a row in every place, and what is none. */
  static Stream<Arguments> alterations() {
    return Stream.of(Dialect.values())
        .flatMap(
            dialect ->
                Stream.of("counter", "grant_counter", "expires_at", "shared_until", "ttl")
                    .flatMap(
                        column ->
                            AlteredRows.numbers(dialect)
                                .map(value -> Arguments.of(dialect, column + " = " + value))));
  }

  @ParameterizedTest
  @MethodSource("alterations")
  @Timeout(value = 100, unit = TimeUnit.SECONDS)
  void numberThatNobodyWroteCostsItsVoteAtTheMost(Dialect dialect, String alteration)
      throws Exception {
    TestDatabase database = AlteredRows.databaseThatTakesAnything(dialect);
    try (Redlock locks = AlteredRows.client(database)) {
      long first = token(locks);
      for (String owner : List.of("NULL", "name")) { // nobody, and somebody
        database.update(
            "UPDATE lukko_lock SET owner = " + owner + ", " + alteration + " WHERE name = ?", "r");
        AlteredRows.look(database);
        long next = token(locks);
        assertThat(next).isGreaterThan(first).isLessThan(1L << 52);
        first = next;
      }
      AlteredRows.assertVotesForAnotherName(locks, database);
    }
  }

  /** What a row without a counter would count from is below what was granted before. */
  static Stream<Arguments> lostCounters() {
    return Stream.of(Dialect.values())
        .flatMap(dialect -> AlteredRows.words(dialect).map(word -> Arguments.of(dialect, word)));
  }

  @ParameterizedTest
  @MethodSource("lostCounters")
  @Timeout(value = 100, unit = TimeUnit.SECONDS)
  void resourceWhoseCounterIsNoNumberIsNotGrantedAndSaysWhy(Dialect dialect, String word) {
    TestDatabase database = AlteredRows.databaseThatTakesAnything(dialect);
    database.createRow("r");
    database.setCounter("r", word);
    try (JdbcNode node = database.node().requestTimeout(Duration.ofSeconds(5)).build()) {
      for (List<String> names : List.of(List.of("r"), List.of("r", "s"))) {
        for (boolean shared : new boolean[] {false, true}) {
          GrantReply reply =
              JdbcNodeContract.now(
                  node.grant(
                      new GrantRequest(
                          new LockEntry(names, "me", shared), AlteredRows.TTL.toMillis(), 5)));
          assertThat(reply).isInstanceOf(Failed.class);
          assertThat(reply.toString()).contains("counter of \"r\" holds garbage");
        }
      }
    }
    assertThat(database.holders("r")).isZero();
    assertThat(database.holders("s")).isZero();
  }

  /** Whatever stands there goes into messages of other processes. */
  @ParameterizedTest
  @EnumSource
  @Timeout(value = 100, unit = TimeUnit.SECONDS)
  void ownerOfControlCharactersIsShownPrintable(Dialect dialect) {
    TestDatabase database = Databases.of(dialect);
    String resource = "a\u001b]0;title\u0007\nb is free\u202e";
    database.createRow(resource);
    String later = database.dialect().traits().now() + " + 60000000";
    database.update(
        "UPDATE lukko_lock SET owner = name, expires_at = " + later + " WHERE name = ?", resource);
    try (JdbcNode node = database.node().build()) {
      GrantReply reply =
          JdbcNodeContract.now(
              node.grant(
                  new GrantRequest(
                      JdbcNodeContract.entry("me", resource), AlteredRows.TTL.toMillis(), 5)));
      assertThat(reply).isInstanceOf(GrantReply.Refused.class);
      String shown = ((GrantReply.Refused) reply).holder().toString();
      assertThat(shown.chars()).noneMatch(Character::isISOControl).noneMatch(c -> c == 0x202e);
      assertThat(JdbcNodeContract.now(node.inspect(resource)).holders().toString().chars())
          .noneMatch(Character::isISOControl);
    }
  }

  /** One cycle, with an extension, and one with a hold that is altered. */
  private static long token(Redlock locks) {
    LockRequest request =
        LockRequest.builder("r").ttl(AlteredRows.TTL).maxWait(Duration.ZERO).build();
    Lease lease = locks.tryAcquire(request).orElseThrow();
    assertThat(lease.extend(AlteredRows.TTL)).isTrue();
    assertThat(lease.isValid()).isTrue();
    lease.release();
    return lease.fencingToken();
  }
}
