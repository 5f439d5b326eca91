package dev.lukko.jdbc;

import static dev.lukko.jdbc.JdbcNodeContract.entry;
import static dev.lukko.jdbc.JdbcNodeContract.now;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.spi.Failed;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantReply.Granted;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.spi.Unknown;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the database answers when transactions get in each other's way. */
class ConflictsTest {
  private static final long TTL = 60_000;

  private JdbcNode node;
  private ScriptedSource source;

  @AfterEach
  void close() {
    node.close();
  }

  private void open(TestDatabase database, Duration requestTimeout) {
    source = new ScriptedSource(database.source());
    node = JdbcNode.builder(source.source()).name("n").requestTimeout(requestTimeout).build();
  }

  private static SQLException conflict(Dialect dialect) {
    return switch (dialect) {
      case POSTGRES -> new SQLException("could not serialize access", "40001");
      case MYSQL -> new SQLException("Deadlock found", "40001", 1213);
      case H2 -> new SQLException("Deadlock detected", "40001", 40001);
      case SQLITE -> new SQLException("database is locked", null, 5);
    };
  }

  @ParameterizedTest
  @EnumSource
  void conflictsThatPass_areTriedAgain_andAnsweredProperly(Dialect dialect) {
    open(Databases.of(dialect), Duration.ofSeconds(30));
    for (LockEntry entry : List.of(entry("one", "r"), entry("many", "s", "t"))) {
      AtomicInteger left = new AtomicInteger(5);
      source.failWith(sql -> left.getAndDecrement() > 0 ? conflict(dialect) : null);
      assertThat(now(node.grant(new GrantRequest(entry, TTL, 1)))).isEqualTo(new Granted(1));
      left.set(5);
      assertThat(now(node.release(entry))).isEqualTo(new ReleaseReply.Released());
    }
  }

  @ParameterizedTest
  @EnumSource
  void conflictsWithoutEnd_failInsideTheBudget_withoutAHotLoop(Dialect dialect) {
    open(Databases.of(dialect), Duration.ofMillis(500));
    int before = source.executions.get();
    source.failWith(sql -> conflict(dialect));

    GrantReply reply = now(node.grant(new GrantRequest(entry("a", "r"), TTL, 1)));

    assertThat(reply).isInstanceOf(Failed.class);
    // Pauses double from 1 ms up to 100 ms: some 15 attempts, where a hot loop makes thousands.
    assertThat(source.executions.get() - before).isBetween(3, 60);
  }

  @Test
  void brokenConnection_leavesAWriteInDoubt_butNotARead() {
    open(Databases.postgres(), Duration.ofSeconds(30));
    source.failWith(sql -> new SQLException("connection reset", "08006"));
    assertThat(now(node.grant(new GrantRequest(entry("a", "r"), TTL, 1))))
        .isInstanceOf(Unknown.class);
    // Several resources: nothing is applied before the commit.
    assertThat(now(node.grant(new GrantRequest(entry("a", "r", "s"), TTL, 1))))
        .isInstanceOf(Failed.class);
  }

  @Test
  void errorsThatAreNoConflict_areNotTriedAgain() {
    open(Databases.postgres(), Duration.ofSeconds(30));
    int before = source.executions.get();
    source.failWith(sql -> new SQLException("cannot write in a read-only transaction", "25006"));

    GrantReply reply = now(node.grant(new GrantRequest(entry("a", "r"), TTL, 1)));

    assertThat(reply).isInstanceOf(Failed.class);
    assertThat(((Failed) reply).detail()).contains("read-only", "25006");
    assertThat(source.executions.get() - before).isEqualTo(1);
  }

  @Test
  void errorWithoutAnyCode_isInDoubt() {
    open(Databases.postgres(), Duration.ofSeconds(30));
    source.failWith(sql -> new SQLException("something"));
    assertThat(now(node.grant(new GrantRequest(entry("a", "r"), TTL, 1))))
        .isInstanceOf(Unknown.class);
  }

  @Test
  void driverThatThrowsARuntimeException_isInDoubt_andTheNodeGoesOn() {
    open(Databases.h2(), Duration.ofSeconds(30));
    AtomicInteger left = new AtomicInteger(1);
    source.failWith(
        sql -> {
          if (left.getAndDecrement() > 0) {
            throw new IllegalStateException("a bug in the driver");
          }
          return null;
        });
    assertThat(now(node.grant(new GrantRequest(entry("a", "r"), TTL, 1))))
        .isInstanceOf(Unknown.class);
    assertThat(now(node.grant(new GrantRequest(entry("a", "r"), TTL, 1))))
        .isEqualTo(new Granted(1));
  }
}
