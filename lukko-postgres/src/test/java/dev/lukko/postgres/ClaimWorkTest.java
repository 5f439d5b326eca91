package dev.lukko.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lukko.postgres.PostgresServer.Database;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Rows whose work fails half-way, beside rows whose work is good. */
@ExtendWith(PostgresServer.Shared.class)
class ClaimWorkTest {
  private static final int MAX_ATTEMPTS = 3;

  private Database database;
  private SkipLockedQueue queue;

  @BeforeEach
  void open(Database database) throws SQLException {
    this.database = database;
    database.execute("CREATE TABLE sent (what text)");
    queue =
        SkipLockedQueue.builder(database.dataSource(), "mail")
            .backoff(Duration.ZERO, Duration.ZERO)
            .maxAttempts(MAX_ATTEMPTS)
            .slowScan(Duration.ofDays(1))
            .build();
    List.of("good 1", "bad", "good 2").forEach(payload -> queue.enqueue(QueueJob.of(payload)));
  }

  @AfterEach
  void close() {
    queue.close();
  }

  /** Writes, and fails behind that for a bad row. */
  private static void send(QueueRow row, Connection connection) throws SQLException {
    try (PreparedStatement insert = connection.prepareStatement("INSERT INTO sent VALUES (?)")) {
      insert.setString(1, row.payload());
      insert.executeUpdate();
      if (row.payload().equals("bad")) {
        throw new IllegalStateException("no such address");
      }
    }
  }

  private void expectTheGoodOnesSentOnceAndTheBadOneDead() throws SQLException {
    assertThat(database.number("SELECT count(*) FROM sent")).isEqualTo(2);
    assertThat(database.number("SELECT count(*) FROM sent WHERE what = 'bad'")).isZero();
    assertThat(queue.deadLetters(5))
        .singleElement()
        .satisfies(row -> assertThat(row.payload()).isEqualTo("bad"))
        .satisfies(row -> assertThat(row.attempts()).isEqualTo(MAX_ATTEMPTS));
    assertThat(database.number("SELECT count(*) FROM lukko.queue WHERE dead_at IS NULL")).isZero();
    assertThat(database.number("SELECT count(*) FROM lukko.queue_crash")).isZero();
  }

  @Test
  void workThatWritesAndThrowsIsUndoneAndCountedAndTheOthersAreCommitted() throws Exception {
    for (int claims = 0; claims < MAX_ATTEMPTS; claims++) {
      try (SkipLockedQueue.Claim claim = queue.claim(10)) {
        for (QueueRow row : claim.rows()) {
          assertThat(claim.work(row, ClaimWorkTest::send).isPresent())
              .isEqualTo(row.payload().equals("bad"));
        }
        claim.commit();
      }
    }
    expectTheGoodOnesSentOnceAndTheBadOneDead();
    assertThat(
            database.number(
                "SELECT count(*) FROM lukko.queue WHERE last_error LIKE '%no such address%'"))
        .isOne();
  }

  @Test
  void statementOfTheWorkThatFailsTakesNeitherTheClaimNorTheOtherRowsAlong() throws Exception {
    for (int claims = 0; claims < MAX_ATTEMPTS; claims++) {
      try (SkipLockedQueue.Claim claim = queue.claim(10)) {
        for (QueueRow row : claim.rows()) {
          claim.work(
              row,
              (same, connection) -> {
                try (Statement statement = connection.createStatement()) {
                  statement.execute("INSERT INTO sent VALUES ('" + row.payload() + "')");
                  statement.execute("SELECT 1 / " + (row.payload().equals("bad") ? 0 : 1));
                }
              });
        }
        claim.commit();
      }
    }
    expectTheGoodOnesSentOnceAndTheBadOneDead();
  }

  @Test
  void statementWhoseFailureTheWorkSwallowsFailsTheRowAllTheSame() throws Exception {
    try (SkipLockedQueue.Claim claim = queue.claim(10)) {
      for (QueueRow row : claim.rows()) {
        claim.work(
            row,
            (same, connection) -> {
              try (Statement statement = connection.createStatement()) {
                statement.execute("INSERT INTO sent VALUES ('" + row.payload() + "')");
                if (row.payload().equals("bad")) {
                  assertThatThrownBy(() -> statement.execute("SELECT 1 / 0"))
                      .isInstanceOf(SQLException.class);
                }
              }
            });
      }
      claim.commit();
    }
    assertThat(database.number("SELECT count(*) FROM sent")).isEqualTo(2);
    assertThat(database.number("SELECT attempts FROM lukko.queue WHERE payload = 'bad'")).isOne();
  }

  @Test
  void rowThatFailsBesideWorkOnTheSharedConnectionIsCountedAndNothingHalfDoneIsCommitted()
      throws Exception {
    for (String fault : List.of("throws", "breaks the transaction")) {
      database.execute("UPDATE lukko.queue SET attempts = 0, dead_at = NULL");
      try (SkipLockedQueue.Claim claim = queue.claim(10)) {
        List<QueueRow> done = new ArrayList<>();
        for (QueueRow row : claim.rows()) {
          try {
            send(row, claim.connection());
            done.add(row);
          } catch (IllegalStateException failure) {
            if (fault.startsWith("breaks")) {
              assertThatThrownBy(() -> claim.connection().createStatement().execute("SELECT 1 / 0"))
                  .isInstanceOf(SQLException.class);
            }
            claim.fail(row, String.valueOf(failure.getMessage()));
            if (fault.startsWith("breaks")) {
              break;
            }
          }
        }
        claim.finish(done);
        claim.commit();
      }
      assertThat(database.number("SELECT count(*) FROM sent")).as(fault).isZero();
      assertThat(database.number("SELECT attempts FROM lukko.queue WHERE payload = 'bad'"))
          .as(fault)
          .isOne();
      assertThat(database.number("SELECT sum(attempts) FROM lukko.queue WHERE payload <> 'bad'"))
          .as(fault)
          .isZero();
    }
  }

  @Test
  void interruptOfTheWorkIsNoFailureOfTheRow() throws Exception {
    try (SkipLockedQueue.Claim claim = queue.claim(1)) {
      assertThat(
              claim.work(
                  claim.rows().get(0),
                  (row, connection) -> {
                    send(row, connection);
                    throw new InterruptedException();
                  }))
          .containsInstanceOf(InterruptedException.class);
      assertThat(Thread.interrupted()).as("kept for the caller").isTrue();
      claim.commit();
    }
    assertThat(database.number("SELECT count(*) FROM sent")).isZero();
    assertThat(database.number("SELECT sum(attempts) FROM lukko.queue")).isZero();
  }

  @Test
  void claimCannotBeEndedFromWithinTheWorkOnARow() {
    try (SkipLockedQueue.Claim claim = queue.claim(1)) {
      QueueRow row = claim.rows().get(0);
      assertThat(claim.work(row, (same, connection) -> claim.commit()))
          .containsInstanceOf(IllegalStateException.class);
      assertThat(claim.work(row, (same, connection) -> claim.fail(row, "no")))
          .containsInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void loopOfTheGuideDrainsAQueueWithAPoisonRow() throws Exception {
    AtomicInteger turns = new AtomicInteger();
    PostgresSnippets guide =
        new PostgresSnippets() {
          @Override
          boolean running() {
            return turns.incrementAndGet() <= 2;
          }

          @Override
          void send(QueueRow row, Connection connection) throws SQLException {
            ClaimWorkTest.send(row, connection);
          }

          @Override
          Ledger ledger() {
            throw new UnsupportedOperationException();
          }

          @Override
          void book(Connection connection, long fencingToken) {
            throw new UnsupportedOperationException();
          }
        };
    guide.loop(database.dataSource());
    assertThat(database.number("SELECT count(*) FROM sent WHERE what <> 'bad'")).isEqualTo(2);
    assertThat(database.number("SELECT count(*) FROM sent WHERE what = 'bad'")).isZero();
    assertThat(database.number("SELECT attempts FROM lukko.queue")).isOne();
  }
}
