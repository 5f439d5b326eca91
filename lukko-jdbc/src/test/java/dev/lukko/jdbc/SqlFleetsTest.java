package dev.lukko.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.lukko.Lease;
import dev.lukko.LockEvent;
import dev.lukko.LockException;
import dev.lukko.LockNotAcquiredException;
import dev.lukko.LockRequest;
import dev.lukko.QuorumUnavailableException;
import dev.lukko.redlock.MembershipChange;
import dev.lukko.redlock.Redlock;
import dev.lukko.redlock.RedlockBuilder;
import dev.lukko.time.Scheduler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Clients that share databases, databases that forget, and different sets of nodes: never two
 * holders of one lock in a fleet.
 */
class SqlFleetsTest {
  private static final Duration LONG = Duration.ofMinutes(5);
  private static final LockRequest JOB =
      LockRequest.builder("job").ttl(LONG).maxWait(Duration.ZERO).build();

  private final List<AutoCloseable> open = new ArrayList<>();
  private final List<TestDatabase> databases = new ArrayList<>();

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : open) {
      each.close();
    }
  }

  /** The test's H2 is in memory and its PostgreSQL does not flush, which strict clients refuse. */
  private static boolean isForStrictOnes(Dialect dialect) {
    return dialect == Dialect.MYSQL || dialect == Dialect.SQLITE;
  }

  private void create(Dialect dialect, int count) {
    for (int i = 0; i < count; i++) {
      databases.add(Databases.of(dialect));
    }
  }

  private JdbcNode node(int database, DataSource source) {
    return JdbcNode.builder(source)
        .name("db-" + database)
        .dialect(databases.get(database).dialect())
        .requestTimeout(Duration.ofSeconds(10))
        .build();
  }

  private Redlock client(UnaryOperator<RedlockBuilder> settings, JdbcNode... nodes) {
    RedlockBuilder builder = Redlock.builder().releaseOnClose(false).retryCount(0);
    Redlock client =
        settings.apply(builder.nodes(List.of(nodes)).nodeTimeout(Duration.ofSeconds(5))).build();
    open.add(0, client);
    return client;
  }

  private Redlock client(UnaryOperator<RedlockBuilder> settings, int... of) {
    JdbcNode[] nodes = new JdbcNode[of.length];
    for (int i = 0; i < of.length; i++) {
      nodes[i] = node(of[i], databases.get(of[i]).source());
    }
    return client(settings, nodes);
  }

  private Redlock client(int... of) {
    return client(builder -> builder, of);
  }

  /** A source of connections to one database, later to another one, or to none. */
  private static final class Moving {
    private final List<Connection> opened = new CopyOnWriteArrayList<>();
    private volatile TestDatabase target;

    Moving(TestDatabase first) {
      target = first;
    }

    DataSource source() {
      return (DataSource)
          Proxy.newProxyInstance(
              Moving.class.getClassLoader(),
              new Class<?>[] {DataSource.class},
              (proxy, method, arguments) -> {
                TestDatabase now = target;
                if (now == null) {
                  throw new SQLException("nobody listens", "08001");
                }
                try {
                  Object result = method.invoke(now.source(), arguments);
                  if (result instanceof Connection connection) {
                    opened.add(connection);
                  }
                  return result;
                } catch (InvocationTargetException failure) {
                  throw failure.getCause();
                }
              });
    }

    void leadTo(TestDatabase other) throws SQLException {
      target = other;
      for (Connection connection : opened) {
        connection.close();
      }
    }
  }

  private static void assertRefused(Redlock client) {
    assertThatThrownBy(() -> client.acquire(JOB))
        .isInstanceOfAny(LockNotAcquiredException.class, QuorumUnavailableException.class);
  }

  /** A holder at two of three databases, of which the third could not be reached. */
  private Lease heldAtTheFirstTwo() throws SQLException {
    Moving third = new Moving(databases.get(2));
    Redlock holder =
        client(
            builder -> builder,
            node(0, databases.get(0).source()),
            node(1, databases.get(1).source()),
            node(2, third.source()));
    third.leadTo(null);
    Lease lease = holder.acquire(JOB);
    assertThat(databases.get(2).holders("job")).isZero();
    return lease;
  }

  private void assertDoesNotVote(int database) {
    for (int i = 0; i < 3; i++) {
      assertRefused(client(0, 1, 2));
    }
    assertThat(databases.get(database).holders("job")).as("a vote").isZero();
  }

  @ParameterizedTest
  @EnumSource
  void neighbourWithOneNodeDoesNotEndTheQuarantineOfADatabaseWhoseTablesWereMadeAnew(
      Dialect dialect) throws Exception {
    create(dialect, 3);
    Lease lease = heldAtTheFirstTwo();
    databases.get(0).makeAnew();
    Redlock neighbour = client(0);
    neighbour.acquire(LockRequest.builder("other").ttl(LONG).build()).release();
    assertDoesNotVote(0);
    assertThat(lease.isValid()).isTrue();
  }

  /** What the guide says for a database that was restored: its records are deleted. */
  @ParameterizedTest
  @EnumSource
  void restoredDatabaseWithoutItsRecordsIsQuarantined(Dialect dialect) throws Exception {
    create(dialect, 3);
    client(0, 1, 2);
    Lease lease = heldAtTheFirstTwo();
    databases.get(0).execute("DELETE FROM lukko_lock"); // As it was in the backup.
    databases.get(0).execute("DELETE FROM lukko_fleet");
    assertDoesNotVote(0);
    assertThat(lease.isValid()).isTrue();
  }

  @ParameterizedTest
  @EnumSource
  void tablesThatAreMadeAnewWhileAClientRunsHaveNoVote_andOthersGoOn(Dialect dialect)
      throws Exception {
    create(dialect, 3);
    Redlock client = client(0, 1, 2);
    client.acquire(JOB).release();
    databases.get(0).makeAnew();
    Lease lease = client.acquire(JOB);
    assertThat(lease.isValid()).as("by the other two").isTrue();
    assertThat(databases.get(0).holders("job")).as("a vote").isZero();
    await()
        .untilAsserted(
            () -> {
              client.acquire(LockRequest.builder("other").ttl(LONG).build()).release();
              assertThat(
                      databases
                          .get(0)
                          .number("SELECT votes_from FROM lukko_fleet WHERE name <> ?", ""))
                  .as("it has the place of the former one, and waits")
                  .isPositive();
            });
    assertThat(lease.extend(LONG)).isTrue();
  }

  @ParameterizedTest
  @EnumSource
  void onlyDatabaseOfAClientIsANewDeploymentAfterItsTablesWereMadeAnew_andAStrictOneWaits(
      Dialect dialect) {
    create(dialect, 1);
    Redlock client = client(0);
    client.acquire(JOB);
    databases.get(0).makeAnew();
    await()
        .ignoreExceptionsInstanceOf(LockException.class)
        .until(() -> client.acquire(JOB) != null);
    if (isForStrictOnes(dialect)) {
      databases.get(0).makeAnew();
      assertRefused(client(builder -> builder.strict(true), 0));
    }
  }

  @ParameterizedTest
  @EnumSource
  void addressThatLeadsToAnotherMemberHasNoSecondVote(Dialect dialect) throws Exception {
    create(dialect, 3);
    Moving moving = new Moving(databases.get(0));
    Lease lease = heldAtTheFirstTwo();
    Redlock other =
        client(
            builder -> builder,
            node(0, moving.source()),
            node(1, databases.get(1).source()),
            node(2, databases.get(2).source()));
    assertRefused(other);
    moving.leadTo(databases.get(2));
    for (int i = 0; i < 5; i++) {
      assertRefused(other);
    }
    assertThat(lease.isValid()).isTrue();
  }

  @ParameterizedTest
  @EnumSource
  void differentNodeSetsExcludeEachOtherAreToldAndRefusedInStrictMode(Dialect dialect) {
    create(dialect, 5);
    List<LockEvent> told = new CopyOnWriteArrayList<>();
    Redlock three = client(0, 1, 2);
    Lease lease = three.acquire(JOB);
    UnaryOperator<RedlockBuilder> listening = builder -> builder.listener(told::add);
    Redlock five = client(listening, 0, 1, 2, 3, 4);
    await().until(() -> told.stream().anyMatch(LockEvent.NodesDiffer.class::isInstance));
    assertThat(told)
        .filteredOn(LockEvent.NodesDiffer.class::isInstance)
        .singleElement()
        .isInstanceOfSatisfying(
            LockEvent.NodesDiffer.class,
            differ -> {
              assertThat(differ.size()).isEqualTo(3);
              assertThat(differ.nodes()).isEqualTo(5);
            });
    assertRefused(five);
    lease.release();
    five.acquire(JOB);
    assertRefused(three);
    if (isForStrictOnes(dialect)) {
      assertThatThrownBy(() -> client(b -> b.strict(true), 0, 1, 2, 3, 4))
          .isInstanceOf(LockException.class)
          .hasMessageContaining("refused in strict mode")
          .hasMessageContaining("lists 5 nodes");
    }
    told.clear();
    client(listening, 1);
    await().until(() -> told.stream().anyMatch(LockEvent.FleetsOverlap.class::isInstance));
    assertThat(told).anySatisfy(event -> assertThat(event.toString()).contains("this node alone"));
  }

  @ParameterizedTest
  @EnumSource
  void newDeploymentVotesBeforeItsFirstLockIsAskedFor(Dialect dialect) {
    create(dialect, 3);
    client(0, 1, 2);
    for (TestDatabase database : databases) {
      assertThat(database.number("SELECT votes_from FROM lukko_fleet WHERE name <> ?", ""))
          .isZero();
    }
  }

  @ParameterizedTest
  @EnumSource
  void setOfDatabasesChangesAndTokensRise(Dialect dialect) {
    create(dialect, 5);
    Redlock former = client(0, 1, 2);
    Lease before = former.acquire(JOB);
    before.release();
    List<JdbcNode> nodes = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      nodes.add(node(i, databases.get(i).source()));
      open.add(nodes.get(i));
    }
    try (Scheduler timers = Scheduler.create("change")) {
      MembershipChange.Result result =
          MembershipChange.builder()
              .nodes(nodes.subList(0, 3))
              .to(nodes.subList(2, 5))
              .maxTtl(Duration.ofMillis(100)) // nothing is held
              .nodeTimeout(Duration.ofSeconds(10))
              .scheduler(timers)
              .build()
              .run();
      assertThat(result.members()).hasSize(3);
      assertThat(result.floor()).isGreaterThanOrEqualTo(before.fencingToken());
    }
    Redlock next = client(2, 3, 4);
    Lease lease = next.acquire(JOB);
    assertThat(lease.fencingToken()).isGreaterThan(before.fencingToken());
    LockRequest reading = LockRequest.builder("other").ttl(LONG).shared(true).build();
    assertThat(next.acquire(reading).fencingToken()).isGreaterThan(before.fencingToken());
    assertRefused(former);
  }
}
