package dev.lukko.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.lukko.Lease;
import dev.lukko.LockBusyException;
import dev.lukko.LockRequest;
import dev.lukko.ReleaseOutcome;
import dev.lukko.postgres.PostgresServer.Database;
import dev.lukko.schedule.JobRun.Outcome;
import dev.lukko.schedule.LastRunStore;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

/** The same behaviour under every setting of the driver that changes how statements are sent. */
@ExtendWith(PostgresServer.Shared.class)
class DriverSettingsTest {
  private static final Duration TTL = Duration.ofSeconds(30);

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "preferQueryMode=simple",
        "preferQueryMode=extendedForPrepared",
        "preferQueryMode=extendedCacheEverything",
        "autosave=always",
        "autosave=always&cleanupSavepoints=true",
        "autosave=conservative",
        "autosave=conservative&cleanupSavepoints=true",
        "defaultRowFetchSize=1",
        "defaultRowFetchSize=3",
        "defaultRowFetchSize=1&adaptiveFetch=true&maxResultBuffer=1M",
        "prepareThreshold=-1",
        "prepareThreshold=0",
        "prepareThreshold=1",
        "preparedStatementCacheQueries=0",
        "binaryTransfer=false",
        "stringtype=unspecified",
        "reWriteBatchedInserts=true",
        "disableColumnSanitiser=true",
        "assumeMinServerVersion=14",
        "groupStartupParameters=true",
        "options=-c%20default_transaction_isolation=serializable",
        "preferQueryMode=simple&autosave=always&cleanupSavepoints=true&defaultRowFetchSize=1",
        "prepareThreshold=1&autosave=always&cleanupSavepoints=true&defaultRowFetchSize=2"
      })
  void everythingDoesTheSame(String settings, Database database) throws Exception {
    PGSimpleDataSource source = new PGSimpleDataSource();
    source.setUrl(database.url() + "?" + settings);
    source.setUser("postgres");
    theQueueCountsWhatFailedAndNothingElse(database, source);
    theOrderedQueueKeepsKeysApart(database, source);
    theStoreRemembers(source);
    theLocksExclude(database, source, settings);
  }

  private static SkipLockedQueue queue(PGSimpleDataSource source, String name, boolean ordered) {
    return SkipLockedQueue.builder(source, name)
        .maxAttempts(3)
        .backoff(Duration.ZERO, Duration.ZERO)
        .ordered(ordered)
        .slowScan(Duration.ofDays(1)) // No search of this test is slow for the window.
        .build();
  }

  private static void theQueueCountsWhatFailedAndNothingElse(
      Database database, PGSimpleDataSource source) throws Exception {
    try (SkipLockedQueue queue = queue(source, "mail", false)) {
      for (int i = 1; i <= 20; i++) {
        queue.enqueue(QueueJob.of("job " + i));
      }
      for (int i = 0; i < 4; i++) {
        try (SkipLockedQueue.Claim claim = queue.claim(10)) {
          assertThat(claim.rows())
              .hasSize(10)
              .allSatisfy(row -> assertThat(row.attempts()).isZero());
        }
      }
      try (SkipLockedQueue.Claim claim = queue.claim(10)) {
        for (QueueRow row : claim.rows()) {
          claim.work(
              row,
              (same, connection) -> {
                try (Statement statement = connection.createStatement()) {
                  statement.execute("SELECT 1 / " + (row.payload().equals("job 3") ? 0 : 1));
                }
              });
        }
        claim.commit();
      }
      assertThat(database.number("SELECT count(*) FROM lukko.queue")).isEqualTo(11);
      assertThat(database.number("SELECT sum(attempts) FROM lukko.queue")).isOne();

      assertThat(claimAndDie(database, queue, 3)).hasSize(3);
      for (int i = 0; i < 3; i++) {
        try (SkipLockedQueue.Claim claim = queue.claim(10)) {
          assertThat(claim.rows())
              .singleElement()
              .satisfies(row -> assertThat(row.attempts()).isPositive());
          claim.finishAll();
          claim.commit();
        }
      }
      assertThat(database.number("SELECT count(*) FROM lukko.queue")).isEqualTo(8);

      LeasedRows leased = queue.lease(4, TTL);
      assertThat(leased.rows()).hasSize(4);
      assertThat(leased.renew(TTL)).isEqualTo(4);
      assertThat(leased.fail(leased.rows().get(0), "no")).isTrue();
      assertThat(leased.finishAll()).isEqualTo(3);
      for (int i = 0; i < 2; i++) {
        try (SkipLockedQueue.Claim claim = queue.claim(10)) {
          claim.rows().forEach(row -> claim.fail(row, "no"));
          claim.commit();
        }
      }
      assertThat(queue.deadLetters(10)).hasSizeBetween(1, 2);
      assertThat(queue.revive(queue.deadLetters(1).get(0).id())).isTrue();
      assertThat(database.number("SELECT count(*) FROM lukko.queue_crash")).isZero();
      assertThat(database.number("SELECT count(*) FROM lukko.queue")).isEqualTo(5);
    }
  }

  private static List<QueueRow> claimAndDie(Database database, SkipLockedQueue queue, int batch)
      throws Exception {
    SkipLockedQueue.Claim claim = queue.claim(batch);
    long pid;
    try (Statement statement = claim.connection().createStatement();
        ResultSet result = statement.executeQuery("SELECT pg_backend_pid()")) {
      result.next();
      pid = result.getLong(1);
    }
    database.number("SELECT pg_terminate_backend(" + pid + ")::int");
    await()
        .until(
            () -> database.number("SELECT count(*) FROM pg_stat_activity WHERE pid = " + pid) == 0);
    return claim.rows();
  }

  private static void theOrderedQueueKeepsKeysApart(Database database, PGSimpleDataSource source)
      throws SQLException {
    try (SkipLockedQueue queue = queue(source, "keys", true);
        Connection connection = source.getConnection()) {
      connection.setAutoCommit(false);
      for (String payload : List.of("a1", "a2", "b1", "b2", "c1")) {
        queue.enqueue(connection, QueueJob.of(payload).withOrderingKey(payload.substring(0, 1)));
      }
      connection.commit();
      LeasedRows leased = queue.lease(1, TTL);
      assertThat(leased.rows()).extracting(QueueRow::payload).containsExactly("a1");
      try (SkipLockedQueue.Claim claim = queue.claim(10)) {
        assertThat(claim.rows()).extracting(QueueRow::payload).containsExactly("b1", "c1");
        assertThat(leased.finishAll()).isOne();
        try (SkipLockedQueue.Claim other = queue.claim(10)) {
          assertThat(other.rows()).extracting(QueueRow::payload).containsExactly("a2");
        }
        claim.finishAll();
        claim.commit();
      }
    }
    assertThat(database.number("SELECT count(*) FROM lukko.queue WHERE queue = 'keys'"))
        .isEqualTo(2);
  }

  private static void theStoreRemembers(PGSimpleDataSource source) {
    LastRunStore store = PostgresLastRunStore.over(source);
    Instant tick = store.now();
    for (int i = 1; i <= 3; i++) {
      Instant next = tick.plusSeconds(i);
      assertThat(store.begin("job", next, i, "me", Set.of()))
          .isEqualTo(LastRunStore.Decision.BEGUN);
      assertThat(store.finish("job", next, i, Outcome.SUCCEEDED, Optional.empty())).isTrue();
    }
    assertThat(store.begin("job", tick, 9, "me", Set.of()))
        .isEqualTo(LastRunStore.Decision.HAD_ITS_RUN);
    assertThat(store.history("job", 10)).hasSize(3);
    store.prune("job", tick.plusSeconds(3));
    assertThat(store.history("job", 10)).hasSize(1);
  }

  private static void theLocksExclude(Database database, PGSimpleDataSource source, String settings)
      throws Exception {
    List<String> names = IntStream.range(0, 8).mapToObj(i -> "name " + i).toList();
    try (PostgresAdvisoryLocks locks =
            PostgresAdvisoryLocks.builder()
                .url(database.url() + "?" + settings, "postgres", null)
                .build();
        PostgresAdvisoryLocks others = database.locks().build();
        Connection connection = source.getConnection()) {
      Lease lease = locks.acquire(LockRequest.builder(names).ttl(TTL).build());
      assertThat(others.tryAcquire("name 3", TTL)).isEmpty();
      assertThat(lease.extend(TTL)).isTrue();
      connection.setAutoCommit(false);
      try (Statement statement = connection.createStatement()) {
        statement.execute("SET TRANSACTION ISOLATION LEVEL READ COMMITTED");
        assertThat(others.tryInTransaction(connection, List.of("free", "name 3"))).isEmpty();
        assertThatThrownBy(
                () ->
                    others.inTransaction(
                        connection, List.of("free", "name 3"), Duration.ofMillis(20)))
            .isInstanceOf(LockBusyException.class);
        assertThat(lease.release().status()).isEqualTo(ReleaseOutcome.Status.RELEASED);
        assertThat(others.inTransaction(connection, List.of("free", "name 3"), TTL)).isPositive();
        assertThat(locks.tryAcquire("name 3", TTL)).isEmpty();
        statement.execute("SELECT 1"); // The transaction was none the worse for the busy lock.
      }
      connection.commit();
      locks.acquire("name 3", TTL).close();
    }
    assertThat(database.advisoryLocks()).isZero();
  }
}
