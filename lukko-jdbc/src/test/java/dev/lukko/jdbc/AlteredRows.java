package dev.lukko.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lukko.memory.InMemoryNode;
import dev.lukko.redlock.Redlock;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.Inspection;
import dev.lukko.spi.NodeStatus;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/** What another program may have written into the rows of a database that is one node of three. */
final class AlteredRows {
  static final Duration TTL = Duration.ofSeconds(60);
  private static final long END = GrantRequest.MAX_COUNTER;
  private static final Map<Dialect, TestDatabase> DATABASES = new EnumMap<>(Dialect.class);

  private AlteredRows() {}

  /** Numbers that nobody writes, and {@linkplain #words what is none}. */
  static Stream<String> numbers(Dialect dialect) {
    return Stream.concat(
        Stream.of(END, END + 1, END - 1, -1L, 0L, Long.MAX_VALUE, -Long.MAX_VALUE)
            .map(String::valueOf),
        words(dialect));
  }

  /** What stands where there should be a whole number. */
  static Stream<String> words(Dialect dialect) {
    return dialect == Dialect.SQLITE // whose columns have no types
        ? Stream.of("NULL", "'soon'", "1.5", "1e300", "x'00ff'")
        : Stream.of("NULL");
  }

  /** An empty database whose tables were made by hand, without their constraints. */
  static TestDatabase databaseThatTakesAnything(Dialect dialect) {
    TestDatabase database = DATABASES.computeIfAbsent(dialect, AlteredRows::withoutConstraints);
    database.forget();
    return database;
  }

  private static TestDatabase withoutConstraints(Dialect dialect) {
    TestDatabase database = Databases.of(dialect);
    for (String statement : dialect.traits().schema()) {
      for (String table : new String[] {"lukko_lock", "lukko_shared", "lukko_fleet"}) {
        if (statement.startsWith("CREATE TABLE IF NOT EXISTS " + table)) {
          database.execute("DROP TABLE " + table);
          database.execute(
              statement
                  .replace("NOT NULL", "")
                  .replaceFirst(",\\s*PRIMARY KEY \\(name, owner\\)", "")
                  .replace("WITHOUT ROWID", ""));
        }
      }
    }
    return database;
  }

  static Redlock client(TestDatabase database) {
    return Redlock.builder()
        .node(new InMemoryNode("one"))
        .node(new InMemoryNode("two"))
        .node(database.node().name("altered").requestTimeout(Duration.ofSeconds(5)).build())
        .nodeTimeout(Duration.ofSeconds(5))
        .build();
  }

  /** What is shown of it comes in a bounded time, and with numbers in range. */
  static void look(TestDatabase database) throws Exception {
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

  /** What it does not count for one name, it counts for another. */
  static void assertVotesForAnotherName(Redlock locks, TestDatabase database) {
    locks.tryAcquire("other", TTL, Duration.ZERO).orElseThrow().release();
    await().alias("its vote for another name").until(() -> database.counter("other") > 0);
    await().alias("and its end").until(() -> database.holders("other") == 0);
  }
}
