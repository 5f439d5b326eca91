package dev.lukko.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.lukko.postgres.PostgresServer.Database;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(PostgresServer.Shared.class)
class SkipLockedQueueTest {
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

  private SkipLockedQueue.Builder settings() {
    return SkipLockedQueue.builder(database.dataSource(), "mail")
        .backoff(Duration.ZERO, Duration.ZERO)
        .slowScan(Duration.ofDays(1)) // However busy the machine is.
        .maxAttempts(3);
  }

  private SkipLockedQueue queue(SkipLockedQueue.Builder settings) {
    SkipLockedQueue queue = settings.build();
    opened.add(queue);
    return queue;
  }

  private static List<String> payloads(List<QueueRow> rows) {
    return rows.stream().map(QueueRow::payload).toList();
  }

  @Test
  void rowsAreClaimedInOrderFinishedAndGone() throws Exception {
    SkipLockedQueue queue = queue(settings());
    for (String payload : List.of("a", "b", "c")) {
      queue.enqueue(QueueJob.of(payload));
    }
    try (SkipLockedQueue.Claim claim = queue.claim(2)) {
      assertThat(payloads(claim.rows())).containsExactly("a", "b");
      try (SkipLockedQueue.Claim other = queue.claim(10)) {
        assertThat(payloads(other.rows())).as("skipped, not waited for").containsExactly("c");
      }
      claim.finishAll();
      claim.commit();
    }
    assertThat(database.number("SELECT count(*) FROM lukko.queue")).isOne();
    assertThat(database.number("SELECT count(*) FROM lukko.queue_crash")).isZero();
  }

  @Test
  void theWorkAndTheFinishAreOneTransaction() throws Exception {
    database.execute("CREATE TABLE sent (what text)");
    SkipLockedQueue queue = queue(settings());
    queue.enqueue(QueueJob.of("a"));
    try (SkipLockedQueue.Claim claim = queue.claim(1);
        Statement statement = claim.connection().createStatement()) {
      statement.execute("INSERT INTO sent VALUES ('a')");
      claim.finishAll();
    } // Not committed.
    assertThat(database.number("SELECT count(*) FROM sent")).isZero();
    try (SkipLockedQueue.Claim claim = queue.claim(1)) {
      assertThat(claim.rows()).hasSize(1);
      assertThat(claim.rows().get(0).attempts()).as("given back is not tried").isZero();
    }
  }

  @Test
  void aRowThatFailsComesBackAndBecomesADeadLetterAfterItsLastAttempt() {
    SkipLockedQueue queue = queue(settings());
    queue.enqueue(QueueJob.of("bad"));
    for (int attempt = 0; attempt < 3; attempt++) {
      try (SkipLockedQueue.Claim claim = queue.claim(10)) {
        assertThat(claim.rows()).hasSize(1);
        assertThat(claim.rows().get(0).attempts()).isEqualTo(attempt);
        claim.fail(claim.rows().get(0), "no such address");
        claim.commit();
      }
    }
    try (SkipLockedQueue.Claim claim = queue.claim(10)) {
      assertThat(claim.rows()).isEmpty();
    }
    List<QueueRow> dead = queue.deadLetters(10);
    assertThat(payloads(dead)).containsExactly("bad");
    assertThat(queue.revive(dead.get(0).id())).isTrue();
    assertThat(queue.revive(dead.get(0).id())).isFalse();
    try (SkipLockedQueue.Claim claim = queue.claim(10)) {
      assertThat(claim.rows().get(0).attempts()).isZero();
    }
  }

  @Test
  void aFailedRowWaitsForItsBackoffByTheDatabasesClock() throws Exception {
    SkipLockedQueue queue =
        queue(settings().backoff(Duration.ofHours(1), Duration.ofHours(3)).maxAttempts(10));
    queue.enqueue(QueueJob.of("slow"));
    for (int failures = 1; failures <= 3; failures++) {
      try (SkipLockedQueue.Claim claim = queue.claim(1)) {
        claim.fail(claim.rows().get(0), "later");
        claim.commit();
      }
      try (SkipLockedQueue.Claim claim = queue.claim(1)) {
        assertThat(claim.rows()).isEmpty();
      }
      assertThat(
              database.number(
                  "SELECT round(extract(epoch FROM ready_at - clock_timestamp()) / 3600)"
                      + " FROM lukko.queue"))
          .isEqualTo(Math.min(3, 1L << (failures - 1)));
      database.execute("UPDATE lukko.queue SET ready_at = now(), rank = now()");
    }
    assertThat(new Backoff(Duration.ofSeconds(1), Duration.ofHours(1)).after(1_000))
        .isEqualTo(Duration.ofHours(1));
  }

  @Test
  void aDelayedJobIsNotHandedOutBeforeItsTime() throws Exception {
    SkipLockedQueue queue = queue(settings());
    queue.enqueue(QueueJob.of("tomorrow").after(Duration.ofDays(1)).withPriority(1_000));
    queue.enqueue(QueueJob.of("now"));
    try (SkipLockedQueue.Claim claim = queue.claim(10)) {
      assertThat(payloads(claim.rows())).containsExactly("now");
    }
    database.execute("UPDATE lukko.queue SET ready_at = now() WHERE payload = 'tomorrow'");
    try (SkipLockedQueue.Claim claim = queue.claim(10)) {
      assertThat(payloads(claim.rows())).containsExactlyInAnyOrder("tomorrow", "now");
    }
  }

  @Test
  void priorityGoesFirstButAnOldRowIsNotStarved() throws Exception {
    SkipLockedQueue queue = queue(settings().ageing(Duration.ofMinutes(1)));
    queue.enqueue(QueueJob.of("old"));
    database.execute(
        "UPDATE lukko.queue SET ready_at = now() - interval '10 min',"
            + " rank = now() - interval '10 min'");
    queue.enqueue(QueueJob.of("plain"));
    queue.enqueue(QueueJob.of("urgent").withPriority(5));
    queue.enqueue(QueueJob.of("very urgent").withPriority(15));
    try (SkipLockedQueue.Claim claim = queue.claim(10)) {
      assertThat(payloads(claim.rows())).containsExactly("very urgent", "old", "urgent", "plain");
    }
  }

  @Test
  void rowsOfOneKeyAreWorkedOnOneAtATimeAndOthersAreNotHeldUp() {
    SkipLockedQueue queue = queue(settings().ordered(true));
    queue.enqueue(QueueJob.of("a1").withOrderingKey("a"));
    queue.enqueue(QueueJob.of("a2").withOrderingKey("a"));
    queue.enqueue(QueueJob.of("b1").withOrderingKey("b"));
    queue.enqueue(QueueJob.of("free"));
    try (SkipLockedQueue.Claim claim = queue.claim(10)) {
      assertThat(payloads(claim.rows())).containsExactly("a1", "b1", "free");
      try (SkipLockedQueue.Claim other = queue.claim(10)) {
        assertThat(other.rows()).as("a2 waits for a1").isEmpty();
      }
      claim.finishAll();
      claim.commit();
    }
    LeasedRows leased = queue.lease(10, Duration.ofMinutes(1));
    assertThat(payloads(leased.rows())).containsExactly("a2");
    queue.enqueue(QueueJob.of("a3").withOrderingKey("a"));
    assertThat(queue.lease(10, Duration.ofMinutes(1)).rows()).isEmpty();
    assertThat(leased.finishAll()).isEqualTo(1);
    assertThat(payloads(queue.lease(10, Duration.ofMinutes(1)).rows())).containsExactly("a3");
  }

  @Test
  void aRowOfAKeyThatBecomesVisibleLateIsNotWorkedOnBesideTheLaterOne() throws Exception {
    SkipLockedQueue queue = queue(settings().ordered(true));
    try (Connection slow = database.connect()) {
      slow.setAutoCommit(false);
      queue.enqueue(slow, QueueJob.of("first").withOrderingKey("a"));
      queue.enqueue(QueueJob.of("second").withOrderingKey("a"));
      try (SkipLockedQueue.Claim claim = queue.claim(1)) {
        assertThat(payloads(claim.rows())).containsExactly("second");
        slow.commit(); // Now the row with the lower id is there.
        try (SkipLockedQueue.Claim other = queue.claim(1)) {
          assertThat(other.rows()).isEmpty();
        }
      }
    }
    LeasedRows leased = queue.lease(1, Duration.ofMinutes(1));
    assertThat(payloads(leased.rows())).containsExactly("first");
  }

  @Test
  void aRowOfAKeyThatBecomesVisibleLateIsNotClaimedWhileTheLaterOneIsOnLease() throws Exception {
    SkipLockedQueue queue = queue(settings().ordered(true));
    try (Connection slow = database.connect()) {
      slow.setAutoCommit(false);
      queue.enqueue(slow, QueueJob.of("first").withOrderingKey("a"));
      queue.enqueue(QueueJob.of("second").withOrderingKey("a"));
      queue.enqueue(QueueJob.of("other").withOrderingKey("b"));
      LeasedRows leased = queue.lease(1, Duration.ofMinutes(1));
      assertThat(payloads(leased.rows())).containsExactly("second");
      slow.commit(); // Now the row with the lower id is there.
      try (SkipLockedQueue.Claim claim = queue.claim(10)) {
        assertThat(payloads(claim.rows())).containsExactly("other");
      }
      assertThat(leased.finishAll()).isOne();
      try (SkipLockedQueue.Claim claim = queue.claim(10)) {
        assertThat(payloads(claim.rows())).containsExactly("first", "other");
      }
    }
  }

  @Test
  void aLeaseThatRanOutCannotBeRenewedBesideAnotherRowOfItsKey() throws Exception {
    SkipLockedQueue queue = queue(settings().ordered(true));
    try (Connection slow = database.connect()) {
      slow.setAutoCommit(false);
      queue.enqueue(slow, QueueJob.of("first").withOrderingKey("a"));
      queue.enqueue(QueueJob.of("second").withOrderingKey("a"));
      LeasedRows leased = queue.lease(1, Duration.ofMinutes(1));
      slow.commit();
      database.execute("UPDATE lukko.queue SET ready_at = now() WHERE payload = 'second'");
      try (SkipLockedQueue.Claim claim = queue.claim(1)) {
        assertThat(payloads(claim.rows())).containsExactly("first");
        CompletableFuture<Integer> renewed =
            CompletableFuture.supplyAsync(() -> leased.renew(Duration.ofMinutes(1)));
        await()
            .until(
                () ->
                    renewed.isDone()
                        || database.number("SELECT count(*) FROM pg_locks WHERE NOT granted") > 0);
        claim.finishAll();
        claim.commit();
        assertThat(renewed.get()).isZero();
      }
    }
  }

  @Test
  void aFutureJobOfAKeyHoldsUpTheLaterOnesOfItsKeyAndNoOthers() {
    SkipLockedQueue queue = queue(settings().ordered(true));
    queue.enqueue(QueueJob.of("in an hour").withOrderingKey("a").after(Duration.ofHours(1)));
    queue.enqueue(QueueJob.of("behind it").withOrderingKey("a"));
    queue.enqueue(QueueJob.of("other").withOrderingKey("b"));
    try (SkipLockedQueue.Claim claim = queue.claim(10)) {
      assertThat(payloads(claim.rows())).containsExactly("other");
    }
  }

  @Test
  void aLeaseEndsByItselfAndItsLateFinishIsRefused() throws Exception {
    SkipLockedQueue queue = queue(settings());
    queue.enqueue(QueueJob.of("long"));
    LeasedRows first = queue.lease(1, Duration.ofMinutes(5));
    assertThat(first.rows().get(0).attempts()).isEqualTo(1);
    assertThat(queue.lease(1, Duration.ofMinutes(5)).rows()).isEmpty();
    assertThat(first.renew(Duration.ofMinutes(10))).isEqualTo(1);

    database.execute("UPDATE lukko.queue SET ready_at = now()"); // The lease has ended.
    LeasedRows second = queue.lease(1, Duration.ofMinutes(5));
    assertThat(second.rows()).hasSize(1);
    assertThat(second.fencingToken()).isGreaterThan(first.fencingToken());
    assertThat(first.finishAll()).isZero();
    assertThat(first.renew(Duration.ofMinutes(1))).isZero();
    assertThat(first.fail(first.rows().get(0), "late")).isFalse();
    assertThat(second.finishAll()).isEqualTo(1);
  }

  @Test
  void aRowWhoseEveryLeaseRanOutIsADeadLetter() throws Exception {
    SkipLockedQueue queue = queue(settings());
    queue.enqueue(QueueJob.of("killer"));
    for (int attempt = 1; attempt <= 3; attempt++) {
      assertThat(queue.lease(1, Duration.ofMinutes(5)).rows()).hasSize(1);
      database.execute("UPDATE lukko.queue SET ready_at = now()"); // Its worker died.
    }
    assertThat(queue.lease(1, Duration.ofMinutes(5)).rows()).isEmpty();
    assertThat(payloads(queue.deadLetters(5))).containsExactly("killer");
  }

  @Test
  void aWaitingWorkerIsWokenByTheJobAndNotByItsPoll() throws Exception {
    SkipLockedQueue queue = queue(settings().pollInterval(Duration.ofHours(1)));
    CompletableFuture<List<String>> worked =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                while (true) {
                  try (SkipLockedQueue.Claim claim = queue.claim(1)) {
                    if (!claim.rows().isEmpty()) {
                      return payloads(claim.rows());
                    }
                  }
                  queue.awaitWork(Duration.ofHours(1));
                }
              } catch (InterruptedException never) {
                throw new IllegalStateException(never);
              }
            });
    await()
        .until(
            () ->
                database.number(
                        "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND"
                            + " datname = current_database()")
                    == 1);
    queue.enqueue(QueueJob.of("ping"));
    assertThat(worked.get()).containsExactly("ping");
  }

  @Test
  void aTableOfOnesOwnIsAQueueToo() throws Exception {
    database.execute(
        "CREATE TABLE orders (order_no bigint PRIMARY KEY, body text, due timestamptz NOT NULL"
            + " DEFAULT now(), tries int NOT NULL DEFAULT 0, failed_at timestamptz, shipped_at timestamptz)");
    database.execute("INSERT INTO orders (order_no, body) VALUES (1, 'x'), (2, 'y'), (3, 'z')");
    SkipLockedQueue queue =
        queue(
            settings()
                .table(
                    QueueTable.builder("orders")
                        .id("order_no")
                        .payload("body")
                        .readyAt("due")
                        .attempts("tries")
                        .deadAt("failed_at")
                        .doneAt("shipped_at")
                        .build()));
    try (SkipLockedQueue.Claim claim = queue.claim(2)) {
      assertThat(payloads(claim.rows())).containsExactly("x", "y");
      claim.finish(claim.rows().subList(0, 1));
      claim.fail(claim.rows().get(1), "lost");
      claim.commit();
    }
    assertThat(database.number("SELECT count(*) FROM orders WHERE shipped_at IS NOT NULL")).isOne();
    assertThat(database.number("SELECT tries FROM orders WHERE order_no = 2")).isOne();
    assertThatThrownBy(() -> queue.lease(1, Duration.ofMinutes(1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("lease");
    assertThatThrownBy(() -> queue.enqueue(QueueJob.of("x")))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("orders is the application's own");
    assertThatThrownBy(() -> QueueTable.builder("orders; drop table orders"))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void schemaThatIsMissingOrOfAnotherVersionIsRefusedByTheFirstCall() throws Exception {
    SkipLockedQueue early = queue(settings().schema(PostgresSchema.named("elsewhere")));
    assertThatThrownBy(() -> early.claim(1))
        .isInstanceOf(UnsuitableDatabaseException.class)
        .hasMessageContaining("schema elsewhere is missing");
    PostgresSchema.named("elsewhere").create(database.dataSource());
    early.enqueue(QueueJob.of("now it is there"));
    try (SkipLockedQueue.Claim claim = early.claim(1)) {
      assertThat(claim.rows()).hasSize(1);
    }
    database.execute("INSERT INTO elsewhere.schema_version (version) VALUES (99)");
    SkipLockedQueue late = queue(settings().schema(PostgresSchema.named("elsewhere")));
    assertThatThrownBy(() -> late.lease(1, Duration.ofMinutes(1)))
        .isInstanceOf(UnsuitableDatabaseException.class)
        .hasMessageContaining("version 99");
    assertThatThrownBy(() -> late.enqueue(QueueJob.of("x")))
        .isInstanceOf(UnsuitableDatabaseException.class)
        .hasMessageContaining("version 99");
  }

  @Test
  void wrongSettingsAreRefusedWithFieldValueAndRule() {
    assertThatThrownBy(() -> SkipLockedQueue.builder(database.dataSource(), "it's"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("name");
    assertThatThrownBy(() -> queue(settings()).claim(0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("batch");
    assertThatThrownBy(() -> QueueJob.of("x").withPriority(5_000))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("priority");
    Duration endless = Duration.ofSeconds(Long.MAX_VALUE);
    assertThatThrownBy(() -> QueueJob.of("x").after(endless))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("delay");
    assertThatThrownBy(() -> queue(settings()).lease(1, endless))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("duration");
    assertThatThrownBy(() -> settings().backoff(Duration.ZERO, endless))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("limit");
    assertThatThrownBy(() -> queue(settings()).deadLetters(-1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("limit");
    LeasedRows none = queue(settings()).lease(1, Duration.ofMinutes(1));
    for (Duration wrong : List.of(Duration.ZERO, Duration.ofDays(-1), endless)) {
      assertThatThrownBy(() -> none.renew(wrong))
          .as("%s", wrong)
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("duration");
    }
  }

  @Test
  void errorTextThatTheServerCannotStoreDoesNotKeepARowFromFailing() throws Exception {
    SkipLockedQueue queue = queue(settings());
    queue.enqueue(QueueJob.of("one"));
    try (SkipLockedQueue.Claim claim = queue.claim(1)) {
      claim.fail(
          claim.rows().get(0), "zero \0, half \ud83d, " + "x".repeat(1_990) + "\ud83d\ude00");
      claim.commit();
    }
    assertThat(database.number("SELECT count(*) FROM lukko.queue WHERE attempts = 1")).isEqualTo(1);
  }

  @Test
  void rowOfAnotherClaimIsRefusedAndStaysAsItWas() throws Exception {
    SkipLockedQueue queue = queue(settings());
    queue.enqueue(QueueJob.of("one"));
    queue.enqueue(QueueJob.of("two"));
    try (SkipLockedQueue.Claim first = queue.claim(1);
        SkipLockedQueue.Claim second = queue.claim(1)) {
      assertThatThrownBy(() -> second.finish(first.rows()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("row is");
      assertThatThrownBy(() -> second.fail(first.rows().get(0), "not mine"))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("row is");
      second.finishAll();
      second.commit();
    }
    assertThat(database.number("SELECT count(*) FROM lukko.queue WHERE attempts = 0")).isEqualTo(1);
  }

  /**
   * An old snapshot keeps every finished row in the index. What counts is how many index entries
   * all the claims together step over: with a search from the start each time it grows with the
   * square of the rows.
   */
  @Test
  void underAnOldSnapshotAClaimDoesNotStepOverAllTheDead() throws Exception {
    int rows = 2_000;
    int batch = 20;
    try (Connection old = database.connect();
        Statement snapshot = old.createStatement()) {
      old.setAutoCommit(false);
      old.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
      snapshot.execute("SELECT 1 FROM pg_class LIMIT 1");
      // The second drain meets the dead of the first too, so the one without the window comes
      // first.
      long naive = drain(settings().slowScan(Duration.ofDays(1)), rows, batch);
      // By this clock the first search takes hours, and the pause after it outlasts the test.
      AtomicLong hours = new AtomicLong();
      LongSupplier clock = () -> Duration.ofHours(Math.min(8, hours.incrementAndGet())).toNanos();
      long stepped = drain(settings().slowScan(Duration.ofMinutes(1)).nanos(clock), rows, batch);
      database.execute("VACUUM lukko.queue");
      assertThat(
              database.number("SELECT n_dead_tup FROM pg_stat_user_tables WHERE relname = 'queue'"))
          .as("the snapshot keeps them from vacuum")
          .isGreaterThanOrEqualTo(2L * rows);
      assertThat(naive).as("without the window").isGreaterThan(rows * 20L);
      assertThat(stepped).as("with it").isLessThan(naive / 2);
      old.rollback();
    }
  }

  private long drain(SkipLockedQueue.Builder settings, int rows, int batch) throws Exception {
    SkipLockedQueue queue = queue(settings.notify(false));
    database.execute(
        "INSERT INTO lukko.queue (queue, payload) SELECT 'mail', 'x' FROM generate_series(1, "
            + rows
            + ")");
    database.execute("ANALYZE lukko.queue");
    long before = steppedOver();
    long deletedBefore = deleted();
    int done = 0;
    while (done < rows) {
      try (SkipLockedQueue.Claim claim = queue.claim(batch)) {
        claim.finishAll();
        done += claim.rows().size();
        claim.commit();
      }
    }
    // The server's statistics come late; when the deletions are there, so are the searches.
    await().untilAsserted(() -> assertThat(deleted() - deletedBefore).isEqualTo(rows));
    return steppedOver() - before;
  }

  private long steppedOver() throws Exception {
    return database.number(
        "SELECT coalesce(sum(idx_tup_read), 0) FROM pg_stat_user_indexes"
            + " WHERE indexrelname = 'queue_rank'");
  }

  private long deleted() throws Exception {
    return database.number(
        "SELECT coalesce(sum(n_tup_del), 0) FROM pg_stat_user_tables WHERE relname = 'queue'");
  }
}
