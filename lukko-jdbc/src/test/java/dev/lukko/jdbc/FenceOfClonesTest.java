package dev.lukko.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lukko.Lease;
import dev.lukko.LockRequest;
import dev.lukko.fencing.StaleTokenException;
import dev.lukko.memory.InMemoryNode;
import dev.lukko.redlock.Redlock;
import java.lang.reflect.Field;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import javax.sql.DataSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Processes that were restored from one snapshot draw the same numbers; only tokens may decide. */
class FenceOfClonesTest {
  private static final JdbcFence FENCE = JdbcFence.create();

  @ParameterizedTest
  @EnumSource
  void cloneWithTheSameGeneratorStateDoesNotPassAnOlderToken(Dialect dialect) throws Exception {
    for (DataSource database : databases(dialect)) {
      try (Connection connection = open(database)) {
        inClone(() -> FENCE.check(connection, "account", 34));
        assertThatThrownBy(() -> inClone(() -> FENCE.check(connection, "account", 33)))
            .isInstanceOf(StaleTokenException.class);
        assertThatThrownBy(() -> inClone(() -> FENCE.touch(connection, "account", 33)))
            .isInstanceOf(StaleTokenException.class);
        inClone(() -> FENCE.check(connection, "account", 34));
        inClone(() -> FENCE.touch(connection, "account", 34));
        inClone(() -> FENCE.check(connection, "account", 35));
        connection.commit();
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void cloneWithTheSameGeneratorStateDoesNotUseATokenOfAStrictFenceTwice(Dialect dialect)
      throws Exception {
    JdbcFence strict = FENCE.strict();
    for (DataSource database : databases(dialect)) {
      try (Redlock locks = Redlock.over(new InMemoryNode());
          Connection connection = open(database);
          Lease lease =
              locks.acquire(LockRequest.builder("a", "b").ttl(Duration.ofMinutes(1)).build())) {
        inClone(() -> strict.check(connection, "account", 50));
        assertThatThrownBy(() -> inClone(() -> strict.check(connection, "account", 50)))
            .isInstanceOf(StaleTokenException.class);
        inClone(() -> strict.check(connection, lease));
        assertThatThrownBy(() -> inClone(() -> strict.check(connection, lease)))
            .isInstanceOf(StaleTokenException.class);
        inClone(() -> strict.check(connection, "b", lease.fencingToken() + 1));
        connection.commit();
      }
    }
  }

  /** MySQL's drivers can be set to count changed rows only. */
  private static List<DataSource> databases(Dialect dialect) throws SQLException {
    DataSource database = EmptyDatabases.create(dialect);
    if (dialect != Dialect.MYSQL) {
      return List.of(database);
    }
    String url = EmptyDatabases.urlOf(EmptyDatabases.create(dialect));
    return List.of(database, EmptyDatabases.at(url + "&useAffectedRows=true"));
  }

  private static Connection open(DataSource database) throws SQLException {
    Connection connection = database.getConnection();
    FENCE.createTable(connection);
    connection.setAutoCommit(false);
    return connection;
  }

  private interface Step {
    void run() throws SQLException;
  }

  /** Runs a step with the generator's state as it was in the snapshot. */
  private static void inClone(Step step) throws Exception {
    restoreGenerator();
    long drawn = ThreadLocalRandom.current().nextLong();
    restoreGenerator();
    assertThat(ThreadLocalRandom.current().nextLong()).as("a clone's number").isEqualTo(drawn);
    restoreGenerator();
    step.run();
  }

  private static void restoreGenerator() throws ReflectiveOperationException {
    ThreadLocalRandom.current(); // It has its seed from now on.
    Class<?> type = Class.forName("sun.misc.Unsafe");
    Field instance = type.getDeclaredField("theUnsafe");
    instance.setAccessible(true);
    Object unsafe = instance.get(null);
    Field seed = Thread.class.getDeclaredField("threadLocalRandomSeed");
    Object offset = type.getMethod("objectFieldOffset", Field.class).invoke(unsafe, seed);
    type.getMethod("putLong", Object.class, long.class, long.class)
        .invoke(unsafe, Thread.currentThread(), offset, 4711L);
  }
}
