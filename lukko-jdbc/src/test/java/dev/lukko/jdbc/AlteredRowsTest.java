package dev.lukko.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lukko.Lease;
import dev.lukko.LockEvent;
import dev.lukko.LockRequest;
import dev.lukko.memory.InMemoryNode;
import dev.lukko.redlock.Redlock;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.Inspection;
import dev.lukko.spi.NodeStatus;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A database whose rows were altered by hand is one bad node of three: it costs its vote at the
 * most, never the lock, never a token, never a call that does not end.
 */
class AlteredRowsTest {
  private static final Duration TTL = Duration.ofSeconds(60);
  private static final long END = GrantRequest.MAX_COUNTER;

  /** A database of one kind, when it is needed. */
  private record Kind(String name, Supplier<TestDatabase> start) {
    @Override
    public String toString() {
      return name;
    }
  }

  private static List<Kind> kinds() {
    return List.of(
        new Kind("H2", Databases::h2),
        new Kind("SQLite", Databases::sqlite),
        new Kind("PostgreSQL", Databases::postgres),
        new Kind("MariaDB", Databases::mariaDb));
  }

  private static final List<String> NUMBERS =
      List.of(
          Long.toString(END),
          Long.toString(END + 1),
          Long.toString(END - 1),
          "-1",
          "0",
          Long.toString(Long.MAX_VALUE),
          "-" + Long.MAX_VALUE);

  /** Every number of a row in every place, and what only a column without a type can hold. */
  static Stream<Arguments> alterations() {
    return kinds().stream()
        .flatMap(
            kind ->
                Stream.of("counter", "grant_counter", "expires_at", "shared_until", "ttl")
                    .flatMap(
                        column ->
                            Stream.concat(
                                    NUMBERS.stream(),
                                    kind.name().equals("SQLite")
                                        ? Stream.of("'soon'", "1.5", "1e300", "x'00ff'")
                                        : Stream.of())
                                .map(value -> Arguments.of(kind, column + " = " + value))));
  }

  @ParameterizedTest
  @MethodSource("alterations")
  @Timeout(value = 100, unit = TimeUnit.SECONDS)
  void numberThatNobodyWroteCostsItsVoteAtTheMost(Kind kind, String alteration) throws Exception {
    TestDatabase database = kind.start().get();
    Queue<LockEvent> events = new ConcurrentLinkedQueue<>();
    try (Redlock locks = client(database, events)) {
      long first = token(locks);
      for (String owner : List.of("NULL", "name")) { // nobody, and somebody
        database.update(
            "UPDATE lukko_lock SET owner = " + owner + ", " + alteration + " WHERE name = ?", "r");
        look(database);
        long next = token(locks);
        assertThat(next).isGreaterThan(first).isLessThan(1L << 52);
        first = next;
      }
      // What it does not count for one name, it counts for another.
      locks.tryAcquire("other", TTL, Duration.ZERO).orElseThrow().release();
      await().alias("its vote for another name").until(() -> database.counter("other") > 0);
      await().alias("and its end").until(() -> database.holders("other") == 0);
    }
  }

  static List<Kind> databases() {
    return kinds();
  }

  /** Whatever stands there goes into messages of other processes. */
  @ParameterizedTest
  @MethodSource("databases")
  @Timeout(value = 100, unit = TimeUnit.SECONDS)
  void ownerOfControlCharactersIsShownPrintable(Kind kind) {
    TestDatabase database = kind.start().get();
    String resource = "a\u001b]0;title\u0007\nb is free\u202e";
    database.createRow(resource);
    String later = database.dialect().traits().now() + " + 60000000";
    database.update(
        "UPDATE lukko_lock SET owner = name, expires_at = " + later + " WHERE name = ?", resource);
    try (JdbcNode node = database.node().build()) {
      GrantReply reply =
          JdbcNodeContract.now(
              node.grant(
                  new GrantRequest(JdbcNodeContract.entry("me", resource), TTL.toMillis(), 5)));
      assertThat(reply).isInstanceOf(GrantReply.Refused.class);
      String shown = ((GrantReply.Refused) reply).holder().toString();
      assertThat(shown.chars()).noneMatch(Character::isISOControl).noneMatch(c -> c == 0x202e);
      assertThat(JdbcNodeContract.now(node.inspect(resource)).holders().toString().chars())
          .noneMatch(Character::isISOControl);
    }
  }

  private static Redlock client(TestDatabase database, Queue<LockEvent> events) {
    return Redlock.builder()
        .node(new InMemoryNode("one"))
        .node(new InMemoryNode("two"))
        .node(database.node().name("altered").requestTimeout(Duration.ofSeconds(5)).build())
        .nodeTimeout(Duration.ofSeconds(5))
        .listener(events::add)
        .build();
  }

  /** One cycle, with an extension, and one with a hold that is altered. */
  private static long token(Redlock locks) {
    LockRequest request = LockRequest.builder("r").ttl(TTL).maxWait(Duration.ZERO).build();
    Lease lease = locks.tryAcquire(request).orElseThrow();
    assertThat(lease.extend(TTL)).isTrue();
    assertThat(lease.isValid()).isTrue();
    lease.release();
    return lease.fencingToken();
  }

  /** What is shown of it comes in a bounded time, and with numbers in range. */
  private static void look(TestDatabase database) throws Exception {
    try (JdbcNode node = database.node().requestTimeout(Duration.ofSeconds(5)).build()) {
      NodeStatus status = JdbcNodeContract.now(node.status());
      assertThat(status.state()).isEqualTo(NodeStatus.State.VOTING);
      Inspection inspection = node.inspect("r").toCompletableFuture().get(30, TimeUnit.SECONDS);
      inspection.counter().ifPresent(counter -> assertThat(counter).isBetween(0L, END));
    } catch (ExecutionException refused) {
      assertThat(refused).hasMessageContaining("counter of \"r\"");
    } catch (TimeoutException hung) {
      throw new AssertionError("the look did not end", hung);
    }
  }
}
