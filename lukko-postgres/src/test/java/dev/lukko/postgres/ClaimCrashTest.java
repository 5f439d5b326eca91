package dev.lukko.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.lukko.LockException;
import dev.lukko.postgres.PostgresServer.Database;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What tells a worker that died from one that gave its rows back. */
@ExtendWith(PostgresServer.Shared.class)
class ClaimCrashTest {
  private Database database;
  private final List<SkipLockedQueue> opened = new ArrayList<>();

  @BeforeEach
  void open(Database database) {
    this.database = database;
  }

  @AfterEach
  void close() {
    opened.forEach(SkipLockedQueue::close);
  }

  private SkipLockedQueue queue(SkipLockedQueue.Builder settings) {
    SkipLockedQueue queue =
        settings
            .backoff(Duration.ZERO, Duration.ZERO)
            .maxAttempts(3)
            .notify(false)
            .slowScan(Duration.ofDays(1)) // However busy the machine is.
            .build();
    opened.add(queue);
    return queue;
  }

  private SkipLockedQueue queue(String... payloads) {
    SkipLockedQueue queue = queue(SkipLockedQueue.builder(database.dataSource(), "mail"));
    for (String payload : payloads) {
      queue.enqueue(QueueJob.of(payload));
    }
    return queue;
  }

  /** Takes rows, and dies: its session is ended by the server. */
  private List<QueueRow> claimAndDie(SkipLockedQueue queue, int batch) throws Exception {
    SkipLockedQueue.Claim claim = queue.claim(batch);
    long pid;
    try (Statement statement = claim.connection().createStatement();
        ResultSet result = statement.executeQuery("SELECT pg_backend_pid()")) {
      result.next();
      pid = result.getLong(1);
    }
    assertThat(database.number("SELECT pg_terminate_backend(" + pid + ")::int")).isOne();
    await()
        .until(
            () -> database.number("SELECT count(*) FROM pg_stat_activity WHERE pid = " + pid) == 0);
    return claim.rows();
  }

  private long crashes() throws SQLException {
    return database.number("SELECT coalesce(sum(crashes), 0) FROM lukko.queue_crash");
  }

  @Test
  void rowsOfADeadWorkerComeBackOneByOneWithTheirTryCounted() throws Exception {
    SkipLockedQueue queue = queue("a", "b", "c");
    assertThat(claimAndDie(queue, 2)).hasSize(2);
    for (String payload : List.of("a", "b")) {
      try (SkipLockedQueue.Claim claim = queue.claim(10)) {
        assertThat(claim.rows())
            .singleElement()
            .satisfies(row -> assertThat(row.payload()).isEqualTo(payload))
            .satisfies(row -> assertThat(row.attempts()).isOne());
        claim.finishAll();
        claim.commit();
      }
    }
    assertThat(crashes()).isZero();
    try (SkipLockedQueue.Claim claim = queue.claim(10)) {
      assertThat(claim.rows()).hasSize(1);
      assertThat(claim.rows().get(0).attempts()).as("c was never touched").isZero();
    }
  }

  @Test
  void rowThatKillsEachOfItsWorkersIsADeadLetterAfterTheLastAttempt() throws Exception {
    SkipLockedQueue queue = queue("poison", "good");
    assertThat(claimAndDie(queue, 10)).hasSize(2);
    for (int attempt = 1; attempt < 3; attempt++) {
      assertThat(claimAndDie(queue, 10))
          .singleElement()
          .satisfies(row -> assertThat(row.payload()).isEqualTo("poison"));
    }
    try (SkipLockedQueue.Claim claim = queue.claim(10)) {
      assertThat(claim.rows()).hasSize(1);
      assertThat(claim.rows().get(0).payload()).isEqualTo("good");
      assertThat(claim.rows().get(0).attempts()).isOne();
      claim.finishAll();
      claim.commit();
    }
    assertThat(queue.deadLetters(5)).hasSize(1);
    assertThat(queue.deadLetters(5).get(0).attempts()).isEqualTo(3);
    assertThat(crashes()).isZero();
  }

  @Test
  void claimThatIsClosedCommittedUnfinishedOrFailedInItsWorkIsNoCrash() throws Exception {
    SkipLockedQueue queue = queue("a", "b");
    queue.claim(10).close();
    try (SkipLockedQueue.Claim claim = queue.claim(10)) {
      claim.commit();
    }
    try (SkipLockedQueue.Claim claim = queue.claim(10);
        Statement statement = claim.connection().createStatement()) {
      statement.execute("CREATE TABLE work (n int PRIMARY KEY)");
      assertThatThrownBy(() -> statement.execute("SELECT 1/0")).isInstanceOf(SQLException.class);
    }
    assertThat(database.number("SELECT count(*) FROM pg_tables WHERE tablename = 'work'")).isZero();
    try (SkipLockedQueue.Claim claim = queue.claim(10)) {
      assertThat(claim.rows()).hasSize(2).allSatisfy(row -> assertThat(row.attempts()).isZero());
    }
    assertThat(crashes()).isZero();
  }

  @Test
  void workThatEndsTheTransactionItselfMakesTheCommitFailAndTheTryCount() throws Exception {
    SkipLockedQueue queue = queue("a");
    try (SkipLockedQueue.Claim claim = queue.claim(10)) {
      claim.connection().rollback();
      claim.finishAll();
      assertThatThrownBy(claim::commit).isInstanceOf(LockException.class);
    }
    try (SkipLockedQueue.Claim claim = queue.claim(10)) {
      assertThat(claim.rows()).hasSize(1);
      assertThat(claim.rows().get(0).attempts()).isOne();
      claim.fail(claim.rows().get(0), "bad");
      claim.commit();
    }
    assertThat(database.number("SELECT attempts FROM lukko.queue")).isEqualTo(2);
    assertThat(crashes()).isZero();
  }

  @Test
  void rowsOfOneKeyStayInOrderAlsoAfterTheDeathOfTheirWorker() throws Exception {
    SkipLockedQueue queue =
        queue(SkipLockedQueue.builder(database.dataSource(), "mail").ordered(true));
    queue.enqueue(QueueJob.of("a1").withOrderingKey("a"));
    queue.enqueue(QueueJob.of("a2").withOrderingKey("a"));
    queue.enqueue(QueueJob.of("b1").withOrderingKey("b"));
    assertThat(claimAndDie(queue, 10)).hasSize(2);
    try (SkipLockedQueue.Claim first = queue.claim(10);
        SkipLockedQueue.Claim second = queue.claim(10);
        SkipLockedQueue.Claim third = queue.claim(10)) {
      assertThat(first.rows()).extracting(QueueRow::payload).containsExactly("a1");
      assertThat(second.rows()).extracting(QueueRow::payload).containsExactly("b1");
      assertThat(third.rows()).as("a2 waits for a1").isEmpty();
    }
  }

  @Test
  void plainVacuumBetweenTheDeathAndTheNextClaimHidesNothing() throws Exception {
    SkipLockedQueue queue = queue("a");
    claimAndDie(queue, 1);
    database.execute("VACUUM lukko.queue");
    try (SkipLockedQueue.Claim claim = queue.claim(1)) {
      assertThat(claim.rows().get(0).attempts()).isOne();
    }
  }

  @Test
  void finishAfterFailAndFailAfterFinishLetTheLastWordCount() throws Exception {
    SkipLockedQueue queue = queue("a", "b");
    try (SkipLockedQueue.Claim claim = queue.claim(10)) {
      List<QueueRow> rows = claim.rows();
      claim.fail(rows.get(0), "no");
      claim.finish(List.of(rows.get(0)));
      claim.finish(List.of(rows.get(1)));
      claim.fail(rows.get(1), "yes");
      claim.commit();
    }
    assertThat(database.number("SELECT count(*) FROM lukko.queue WHERE payload = 'a'")).isZero();
    assertThat(database.number("SELECT attempts FROM lukko.queue WHERE payload = 'b'")).isOne();
  }

  @Test
  void rowLockThatWasTakenByHandAndRolledBackIsNoWorkersDeath() throws Exception {
    SkipLockedQueue queue = queue("innocent", "beside it");
    try (Connection hand = database.connect();
        Statement statement = hand.createStatement()) {
      hand.setAutoCommit(false);
      for (int i = 0; i < 5; i++) {
        statement.execute("SELECT 1 FROM lukko.queue WHERE payload = 'innocent' FOR UPDATE");
        hand.rollback();
        try (SkipLockedQueue.Claim claim = queue.claim(10)) {
          assertThat(claim.rows())
              .hasSize(2)
              .allSatisfy(row -> assertThat(row.attempts()).isZero());
        }
      }
    }
    assertThat(crashes()).isZero();
    assertThat(queue.deadLetters(5)).isEmpty();
  }

  @Test
  void searchThatTheServerCutsOffIsNoWorkersDeath() throws Exception {
    SkipLockedQueue queue = queue("a");
    try (Connection holder = database.connect();
        Statement statement = holder.createStatement()) {
      holder.setAutoCommit(false);
      // The statement behind the one that locks the rows waits, and is cut off.
      statement.execute("LOCK TABLE lukko.queue_crash");
      queue.claim(1).close(); // From now on the row is looked up in the ledger.
      CompletableFuture<Void> search = CompletableFuture.runAsync(() -> queue.claim(1).close());
      await().until(() -> database.number("SELECT count(*) FROM pg_locks WHERE NOT granted") == 1);
      database.number("SELECT pg_cancel_backend(pid)::int FROM pg_locks WHERE NOT granted LIMIT 1");
      assertThatThrownBy(search::get).hasCauseInstanceOf(LockException.class);
      holder.rollback();
    }
    try (SkipLockedQueue.Claim claim = queue.claim(1)) {
      assertThat(claim.rows()).hasSize(1);
      assertThat(claim.rows().get(0).attempts()).isZero();
    }
    assertThat(crashes()).isZero();
  }

  @Test
  void queueThatIsClosedLeavesNoWitnessBehindAndOneThatWasSweptAwayIsAddedAgain() throws Exception {
    SkipLockedQueue queue = queue("a", "b");
    queue.claim(1).close();
    database.execute("DELETE FROM lukko.queue_witness");
    assertThat(claimAndDie(queue, 1)).hasSize(1);
    try (SkipLockedQueue.Claim claim = queue.claim(1)) {
      assertThat(claim.rows().get(0).attempts()).as("its witness was there").isOne();
    }
    assertThat(database.number("SELECT count(*) FROM lukko.queue_witness")).isEqualTo(2);
    queue.close();
    assertThat(database.number("SELECT count(*) FROM lukko.queue_witness"))
        .as("the one of the dead is kept as evidence")
        .isOne();
  }

  @Test
  void inATableThatOthersWriteTheirRollbackIsNotTakenForATry() throws Exception {
    database.execute(
        "CREATE TABLE orders (id bigint PRIMARY KEY, note text, ready_at timestamptz NOT NULL"
            + " DEFAULT now(), attempts int NOT NULL DEFAULT 0, dead_at timestamptz)");
    database.execute("INSERT INTO orders (id) VALUES (1)");
    SkipLockedQueue queue =
        queue(
            SkipLockedQueue.builder(database.dataSource(), "orders")
                .table(QueueTable.builder("orders").build()));
    try (Connection application = database.connect();
        Statement statement = application.createStatement()) {
      application.setAutoCommit(false);
      statement.execute("UPDATE orders SET note = 'x' WHERE id = 1");
      application.rollback();
    }
    try (SkipLockedQueue.Claim claim = queue.claim(1)) {
      assertThat(claim.rows().get(0).attempts()).isZero();
    }
    for (int attempt = 0; attempt < 3; attempt++) {
      assertThat(claimAndDie(queue, 1)).hasSize(1);
    }
    try (SkipLockedQueue.Claim claim = queue.claim(1)) {
      assertThat(claim.rows()).as("a killer is found all the same").isEmpty();
    }
    assertThat(queue.deadLetters(5)).hasSize(1);
  }

  @Test
  void databaseThatIsSerializableByDefaultIsDrainedByManyWorkersEachRowOnce() throws Exception {
    database.execute(
        "ALTER DATABASE "
            + database.name()
            + " SET default_transaction_isolation = 'serializable'");
    SkipLockedQueue queue = queue();
    database.execute(
        "INSERT INTO lukko.queue (queue, payload) SELECT 'mail', g::text"
            + " FROM generate_series(1, 200) g");
    ConcurrentLinkedQueue<String> seen = new ConcurrentLinkedQueue<>();
    List<CompletableFuture<Void>> workers = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      boolean leases = i % 2 == 0;
      workers.add(CompletableFuture.runAsync(() -> drain(queue, leases, seen)));
    }
    CompletableFuture.allOf(workers.toArray(CompletableFuture[]::new)).get();
    assertThat(seen).hasSize(200).doesNotHaveDuplicates();
    assertThat(database.number("SELECT count(*) FROM lukko.queue")).isZero();
    assertThat(crashes()).isZero();
  }

  private static void drain(
      SkipLockedQueue queue, boolean leases, ConcurrentLinkedQueue<String> seen) {
    while (true) {
      List<QueueRow> rows;
      if (leases) {
        LeasedRows leased = queue.lease(3, Duration.ofMinutes(1));
        rows = leased.rows();
        assertThat(leased.finishAll()).isEqualTo(rows.size());
      } else {
        try (SkipLockedQueue.Claim claim = queue.claim(3)) {
          rows = claim.rows();
          claim.finishAll();
          claim.commit();
        }
      }
      if (rows.isEmpty()) {
        return;
      }
      rows.forEach(row -> seen.add(row.payload()));
    }
  }
}
