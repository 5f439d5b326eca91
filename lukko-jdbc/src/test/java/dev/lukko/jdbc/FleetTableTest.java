package dev.lukko.jdbc;

import static dev.lukko.jdbc.JdbcNodeContract.TTL;
import static dev.lukko.jdbc.JdbcNodeContract.entry;
import static dev.lukko.jdbc.JdbcNodeContract.now;
import static dev.lukko.jdbc.JdbcNodeContract.reader;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lukko.spi.ConfirmReply.Confirmed;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.ExtendReply.Extended;
import dev.lukko.spi.FleetChange;
import dev.lukko.spi.FleetMemory;
import dev.lukko.spi.FleetRecord;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantReply.Granted;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.NodeFault;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.NodeStatus.State;
import dev.lukko.spi.NotVoting;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a database keeps of its fleets, and that no request rests on a record that was replaced. */
class FleetTableTest {
  private static final String KEY = FleetRecord.key("billing", 3);

  private final List<JdbcNode> open = new ArrayList<>();

  @AfterEach
  void close() {
    open.forEach(JdbcNode::close);
  }

  private JdbcNode node(TestDatabase database) {
    JdbcNode node = database.node().name("n").requestTimeout(Duration.ofSeconds(30)).build();
    open.add(node);
    return node;
  }

  private static NodeStatus status(JdbcNode node) {
    return now(node.status());
  }

  private static FleetMemory memory(NodeStatus status) {
    return Objects.requireNonNull(status.memory());
  }

  private static FleetRecord kept(JdbcNode node) {
    return memory(status(node)).record(KEY).orElseThrow();
  }

  private static FleetRecord first(FleetMemory memory) {
    return new FleetRecord(
        "billing", 3, 0, List.of(memory.run()), memory.run(), memory.run(), 0, FleetRecord.VOTING);
  }

  /** Makes the node a member of a fleet; what a client has seen of it then. */
  private static FleetRecord found(JdbcNode node, long quarantineMillis) {
    NodeStatus seen = status(node);
    assertThat(seen.awaitsAdmission()).isTrue();
    now(node.admit(seen, FleetChange.of(first(memory(seen)), quarantineMillis)));
    return kept(node);
  }

  private static FleetChange raise(FleetRecord record) {
    return FleetChange.of(
        record.in(record.epoch() + 1, record.set(), null, record.floor()), FleetChange.AS_WRITTEN);
  }

  private static GrantReply grant(JdbcNode node, LockEntry entry) {
    return now(node.grant(new GrantRequest(entry, TTL, 1)));
  }

  private static void assertChanged(Object reply) {
    assertThat(reply).isInstanceOf(NotVoting.class);
    assertThat(((NotVoting) reply).status().state()).isEqualTo(State.CHANGED);
  }

  @ParameterizedTest
  @EnumSource
  void requestsAreRunAtTheRecordThatWasSeen_andNotAtAnotherEpoch(Dialect dialect) {
    TestDatabase database = Databases.of(dialect);
    JdbcNode node = node(database);
    FleetRecord record = found(node, 0);
    String now = record.seen();
    String later = record.in(record.epoch() + 1, record.set(), null, record.floor()).seen();
    for (LockEntry entry :
        List.of(entry("a", "r"), entry("b", "s", "t"), reader("c", "u"), reader("d", "v", "w"))) {
      assertChanged(grant(node, entry.seen(later)));
      for (String resource : entry.resources()) {
        assertThat(database.holders(resource)).isZero();
      }
      assertThat(grant(node, entry.seen(now))).isEqualTo(new Granted(1));
      assertChanged(grant(node, entry.seen(later)));
      assertThat(grant(node, entry.seen(now))).as("once more").isEqualTo(new Granted(1));
      assertChanged(now(node.confirm(entry.seen(later), 5)));
      assertThat(database.counter(entry.resources().get(0))).isEqualTo(1);
      assertThat(now(node.confirm(entry.seen(now), 5))).isEqualTo(new Confirmed());
      assertChanged(now(node.extend(entry.seen(later), TTL)));
      assertThat(now(node.extend(entry.seen(now), TTL))).isEqualTo(new Extended());
      assertThat(now(node.release(entry.seen(later)))).isNotInstanceOf(NodeFault.class);
      assertChanged(now(node.repair(entry.seen(later), TTL, 7, Long.MAX_VALUE)));
      for (String resource : entry.resources()) {
        assertThat(database.holders(resource)).isZero();
      }
      assertThat(now(node.repair(entry.seen(now), TTL, 7, Long.MAX_VALUE)))
          .isEqualTo(new Extended());
    }
  }

  @ParameterizedTest
  @EnumSource
  void quarantinedNodeGrantsNothing_andProlongsWhatItHas(Dialect dialect) {
    JdbcNode node = node(Databases.of(dialect));
    FleetRecord record = found(node, 0);
    LockEntry held = entry("a", "r").seen(record.seen());
    assertThat(grant(node, held)).isEqualTo(new Granted(1));
    now(node.admit(status(node), FleetChange.of(record, 600_000)));
    assertThat(status(node).in(KEY).state()).isEqualTo(State.QUARANTINED);
    for (LockEntry entry : List.of(entry("b", "s"), entry("b", "s", "t"), reader("b", "s"))) {
      GrantReply reply = grant(node, entry.seen(record.seen()));
      assertThat(reply).isInstanceOf(NotVoting.class);
      assertThat(((NotVoting) reply).status().state()).isEqualTo(State.QUARANTINED);
    }
    assertThat(now(node.extend(held, TTL))).isEqualTo(new Extended());
    now(node.admit(status(node), FleetChange.of(record, 0)));
    assertThat(grant(node, entry("b", "s").seen(record.seen()))).isEqualTo(new Granted(1));
  }

  @ParameterizedTest
  @EnumSource
  void ofTwoChangesThatWereDecidedOnOneLookTheFirstIsMade(Dialect dialect) {
    TestDatabase database = Databases.of(dialect);
    JdbcNode node = node(database);
    JdbcNode other = node(database);
    NodeStatus seen = status(node);
    FleetRecord record = first(memory(seen));
    FleetChange quarantine = FleetChange.of(record, 600_000);
    assertThat(now(node.admit(seen, quarantine)).in(KEY).state()).isEqualTo(State.QUARANTINED);
    assertThat(now(other.admit(seen, FleetChange.of(record, 0))).in(KEY).state())
        .isEqualTo(State.QUARANTINED);
    NodeStatus again = status(other);
    FleetRecord renamed =
        new FleetRecord(
            "pay", 3, 4, record.members(), record.self(), record.run(), 0, FleetRecord.VOTING);
    now(other.admit(again, new FleetChange(renamed, 0, java.util.Set.of(KEY))));
    assertThat(memory(status(node)).directory().keySet()).containsExactly(renamed.key());
  }

  /** What one session has to wait for, the other holds. */
  private static long waiting(TestDatabase database, Connection monitor) throws SQLException {
    return switch (database.dialect()) {
      case POSTGRES ->
          DialectTraits.number(
              monitor,
              "SELECT COUNT(DISTINCT l.pid) FROM pg_locks l JOIN pg_stat_activity a USING (pid)"
                  + " WHERE NOT l.granted AND a.datname = current_database()");
      case MYSQL ->
          DialectTraits.number(
              monitor,
              "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS"
                  + " WHERE VARIABLE_NAME = 'INNODB_ROW_LOCK_CURRENT_WAITS'");
      case H2, SQLITE ->
          Thread.getAllStackTraces().entrySet().stream()
              .filter(thread -> thread.getKey().getName().startsWith("lukko-jdbc-"))
              .filter(thread -> Stream.of(thread.getValue()).anyMatch(LockWaits::isWaitOfH2))
              .count();
    };
  }

  private static void awaitWaiting(TestDatabase database, Connection monitor, long sessions) {
    await().until(() -> waiting(database, monitor) >= sessions);
  }

  private static Connection transaction(TestDatabase database) throws SQLException {
    Connection connection = database.source().getConnection();
    connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
    connection.setAutoCommit(false);
    return connection;
  }

  /** SQLite has one writer, so there is nothing to interleave. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void recordIsNotReplacedWhileARequestThatRestsOnItWaitsForItsRow(Dialect dialect)
      throws Exception {
    TestDatabase database = Databases.of(dialect);
    JdbcNode node = node(database);
    JdbcNode other = node(database);
    FleetRecord record = found(node, 0);
    database.createRow("r");
    int round = 0;
    for (LockEntry entry : List.of(entry("a", "r"), entry("b", "r", "s"), reader("c", "r"))) {
      FleetRecord before = kept(node);
      try (Connection holder = transaction(database);
          Connection monitor = database.source().getConnection();
          PreparedStatement lock =
              holder.prepareStatement("SELECT counter FROM lukko_lock WHERE name = ? FOR UPDATE")) {
        dialect.traits().setText(lock, 1, "r");
        lock.executeQuery().next();
        CompletableFuture<GrantReply> granting =
            node.grant(new GrantRequest(entry.seen(before.seen()), TTL, ++round))
                .toCompletableFuture();
        awaitWaiting(database, monitor, 1);
        CompletableFuture<NodeStatus> changing =
            other.admit(status(other), raise(before)).toCompletableFuture();
        await().until(() -> changing.isDone() || waiting(database, monitor) >= 2);
        boolean changedFirst = changing.isDone();
        holder.rollback();
        GrantReply reply = now(granting);
        assertThat(kept(other).epoch() > before.epoch() || !changedFirst).isTrue();
        if (changedFirst) {
          assertChanged(reply);
        } else if (reply instanceof NotVoting) {
          assertThat(now(changing).in(KEY).state()).isEqualTo(State.VOTING);
        } else {
          assertThat(reply).isInstanceOf(Granted.class);
        }
        now(changing);
      }
      assertThat(kept(node).epoch()).isEqualTo(before.epoch() + 1);
      now(node.release(entry));
    }
    assertThat(record.epoch() + 3).isEqualTo(kept(node).epoch());
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void requestThatMeetsAChangeUnderWayWaitsForIt_andRestsOnTheNewRecord(Dialect dialect)
      throws Exception {
    TestDatabase database = Databases.of(dialect);
    JdbcNode node = node(database);
    FleetRecord record = found(node, 0);
    FleetRecord next = record.in(record.epoch() + 1, record.set(), null, record.floor());
    assertThat(grant(node, entry("held", "h").seen(record.seen()))).isEqualTo(new Granted(1));
    database.createRow("r");
    try (Connection changer = transaction(database);
        Connection monitor = database.source().getConnection()) {
      DialectTraits.execute(changer, dialect.traits().lockRecords());
      try (PreparedStatement change = changer.prepareStatement(Statements.RECORD_UPDATE)) {
        dialect.traits().setText(change, 1, next.text());
        dialect.traits().setText(change, 2, next.seen());
        dialect.traits().setText(change, 3, next.run());
        change.setLong(4, 0);
        dialect.traits().setText(change, 5, KEY);
        assertThat(change.executeUpdate()).isEqualTo(1);
      }
      CompletableFuture<GrantReply> single =
          node.grant(new GrantRequest(entry("a", "r").seen(record.seen()), TTL, 1))
              .toCompletableFuture();
      awaitWaiting(database, monitor, 1);
      CompletableFuture<GrantReply> fresh =
          node.grant(new GrantRequest(reader("b", "s").seen(record.seen()), TTL, 1))
              .toCompletableFuture();
      CompletableFuture<ExtendReply> extending =
          node.extend(entry("held", "h").seen(record.seen()), TTL).toCompletableFuture();
      awaitWaiting(database, monitor, 2);
      changer.commit();
      assertChanged(now(single));
      assertChanged(now(fresh));
      assertChanged(now(extending));
    }
    assertThat(database.holders("r") + database.holders("s")).isZero();
  }
}
