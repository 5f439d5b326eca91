package dev.lukko.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lukko.postgres.PostgresServer.Database;
import java.io.File;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Case Q9 with workers that are processes, and are killed. */
@ExtendWith(PostgresServer.Shared.class)
class QueueCrashTest {
  private static final int WORKERS = 8;
  private static final int ROWS = 10_000;

  private final List<Process> workers = new ArrayList<>();

  @AfterEach
  void endTheWorkers() throws InterruptedException {
    for (Process worker : workers) {
      worker.destroyForcibly();
      worker.waitFor();
    }
  }

  private void start(Database database) throws IOException {
    workers.add(
        new ProcessBuilder(
                new File(System.getProperty("java.home"), "bin/java").getPath(),
                "-Xmx64m",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                QueueWorkerMain.class.getName(),
                database.url())
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start());
  }

  @Test
  @Timeout(300)
  void q9EightProcessesDrainTheQueueEachRowOnceThoughSomeAreKilledAndOneRowIsPoison(
      Database database) throws Exception {
    database.execute("CREATE TABLE effect (row_id bigint PRIMARY KEY, pid bigint)");
    database.execute(
        "INSERT INTO lukko.queue (queue, payload) SELECT 'q9', CASE WHEN g = 5000 THEN 'poison'"
            + " ELSE 'x' END FROM generate_series(1, "
            + ROWS
            + ") g");
    for (int i = 0; i < WORKERS; i++) {
      start(database);
    }
    int killed = 0;
    int poisoned = 0;
    long end = System.nanoTime() + Duration.ofMinutes(4).toNanos();
    while (database.number("SELECT count(*) FROM lukko.queue WHERE dead_at IS NULL") > 0) {
      assertThat(System.nanoTime()).as("the queue is drained in time").isLessThan(end);
      assertThat(
              database.number(
                  "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype IN ('tuple',"
                      + " 'transactionid')"))
          .as("workers that wait for another's row")
          .isZero();
      long done = database.number("SELECT count(*) FROM effect");
      if (killed < 3 && done > 500L * (killed + 1)) {
        Process victim = workers.stream().filter(Process::isAlive).findFirst().orElseThrow();
        victim.destroyForcibly().waitFor();
        workers.remove(victim);
        killed++;
        start(database);
      }
      for (Process dead : List.copyOf(workers)) {
        if (!dead.isAlive()) {
          assertThat(dead.exitValue()).as("died of the poison").isEqualTo(66);
          workers.remove(dead);
          poisoned++;
          start(database);
        }
      }
    }
    assertThat(killed).isEqualTo(3);
    // The last victim may not have been noticed by the loop any more.
    poisoned += (int) workers.stream().filter(worker -> !worker.isAlive()).count();
    assertThat(poisoned).isEqualTo(QueueWorkerMain.MAX_ATTEMPTS);
    assertThat(database.number("SELECT count(*) FROM effect")).isEqualTo(ROWS - 1);
    try (SkipLockedQueue queue = QueueWorkerMain.queue(database.dataSource())) {
      assertThat(queue.deadLetters(10))
          .singleElement()
          .satisfies(row -> assertThat(row.payload()).isEqualTo(QueueWorkerMain.POISON));
    }
    await()
        .untilAsserted(
            () -> assertThat(database.number("SELECT count(*) FROM lukko.queue_crash")).isZero());
  }

  @Test
  void q9AWorkerThatDiesGivesItsRowsBackAtOnceAndItsTryIsCounted(Database database)
      throws Exception {
    try (SkipLockedQueue queue = QueueWorkerMain.queue(database.dataSource())) {
      long id = queue.enqueue(QueueJob.of(QueueWorkerMain.POISON));
      start(database);
      workers.get(0).waitFor();
      try (SkipLockedQueue.Claim claim = queue.claim(10)) {
        assertThat(claim.rows())
            .singleElement()
            .satisfies(
                row -> {
                  assertThat(row.id()).isEqualTo(id);
                  assertThat(row.attempts()).isEqualTo(1);
                });
        claim.fail(claim.rows().get(0), "still bad");
        claim.commit();
      }
      assertThat(database.number("SELECT attempts FROM lukko.queue")).isEqualTo(2);
      assertThat(database.number("SELECT count(*) FROM lukko.queue_crash")).isZero();
    }
  }
}
