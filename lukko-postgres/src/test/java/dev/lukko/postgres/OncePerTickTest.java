package dev.lukko.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lukko.LeaseLostException;
import dev.lukko.postgres.PostgresServer.Database;
import dev.lukko.schedule.JobRun;
import dev.lukko.schedule.JobRun.Outcome;
import dev.lukko.schedule.OncePerTick;
import dev.lukko.schedule.OncePerTick.Result;
import java.io.File;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** A job in several replicas, on a real server. */
@ExtendWith(PostgresServer.Shared.class)
class OncePerTickTest {
  private static final Instant TICK = Instant.parse("2026-01-31T03:00:00Z");

  private final Database database;
  private final List<Process> replicas = new ArrayList<>();

  OncePerTickTest(Database database) {
    this.database = database;
  }

  @AfterEach
  void endTheReplicas() throws InterruptedException {
    for (Process replica : replicas) {
      replica.destroyForcibly().waitFor();
    }
  }

  @Test
  @Timeout(300)
  void processesThatFireTogetherSendEachInvoiceOnceThoughOneOfThemDiesInTheMiddle()
      throws Exception {
    int ticks = 60;
    int deadly = 30;
    database.execute("CREATE TABLE invoice (tick integer, token bigint, pid integer)");
    for (int i = 0; i < 4; i++) {
      start(ticks, deadly);
    }
    int died = 0;
    for (Process replica : replicas) {
      assertThat(replica.waitFor(240, TimeUnit.SECONDS)).as("it ends").isTrue();
      assertThat(replica.exitValue()).isIn(0, TickReplicaMain.DIED);
      died += replica.exitValue() == TickReplicaMain.DIED ? 1 : 0;
    }
    assertThat(died).isEqualTo(1);
    assertThat(database.number("SELECT count(DISTINCT tick) FROM invoice")).isEqualTo(ticks);
    assertThat(database.number("SELECT count(*) FROM invoice")).isEqualTo(ticks);
    assertThat(database.number("SELECT count(DISTINCT pid) FROM invoice"))
        .as("connections, one for each invoice; so more than one replica had its turn")
        .isGreaterThan(1);
    assertThat(
            database.number(
                "SELECT count(*) FROM (SELECT token - lag(token) OVER (ORDER BY tick) AS rise FROM"
                    + " invoice) AS t WHERE rise <= 0"))
        .as("tokens rise from tick to tick")
        .isZero();
    List<JobRun> history =
        PostgresLastRunStore.over(database.dataSource()).history("invoices", 1_000);
    assertThat(history).hasSize(ticks);
    assertThat(history.stream().filter(run -> run.outcome() != Outcome.SUCCEEDED))
        .singleElement()
        .satisfies(
            run -> {
              assertThat(run.tick()).isEqualTo(TICK.plusSeconds(deadly));
              assertThat(run.outcome()).isEqualTo(Outcome.ABANDONED);
            });
    assertThat(history.stream().map(JobRun::runner).distinct().count()).isGreaterThan(1);
  }

  private void start(int ticks, int deadly) throws IOException {
    replicas.add(
        new ProcessBuilder(
                new File(System.getProperty("java.home"), "bin/java").getPath(),
                "-Xmx64m",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                TickReplicaMain.class.getName(),
                database.url(),
                TICK.toString(),
                Integer.toString(ticks),
                Integer.toString(deadly))
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start());
  }

  @Test
  void clientsThatFireInTheSameInstantRunEachTickOnce() throws Exception {
    int clients = 6;
    int ticks = 20;
    AtomicIntegerArray runs = new AtomicIntegerArray(ticks);
    AtomicIntegerArray results = new AtomicIntegerArray(ticks);
    ExecutorService threads = Executors.newFixedThreadPool(clients);
    CyclicBarrier together = new CyclicBarrier(clients);
    List<CompletableFuture<Void>> done = new ArrayList<>();
    try {
      for (int client = 0; client < clients; client++) {
        done.add(
            CompletableFuture.runAsync(
                () -> {
                  try (PostgresAdvisoryLocks locks = database.locks().build();
                      OncePerTick once =
                          OncePerTick.over(
                              locks, PostgresLastRunStore.over(database.dataSource()))) {
                    for (int i = 0; i < ticks; i++) {
                      int tick = i;
                      together.await();
                      if (once.run("report", TICK.plusSeconds(i), l -> runs.incrementAndGet(tick))
                          == Result.RAN) {
                        results.incrementAndGet(tick);
                      }
                    }
                  } catch (Exception failure) {
                    throw new IllegalStateException(failure);
                  }
                },
                threads));
      }
      CompletableFuture.allOf(done.toArray(CompletableFuture[]::new)).get(240, TimeUnit.SECONDS);
    } finally {
      threads.shutdownNow();
    }
    for (int tick = 0; tick < ticks; tick++) {
      assertThat(runs.get(tick)).as("runs of tick %s", tick).isEqualTo(1);
      assertThat(results.get(tick)).as("replicas told that they ran it").isEqualTo(1);
    }
  }

  @Test
  void tickThatIsStillToComeByTheServersClockIsNotRun() {
    try (PostgresAdvisoryLocks locks = database.locks().build()) {
      PostgresLastRunStore store = PostgresLastRunStore.over(database.dataSource());
      OncePerTick once = OncePerTick.over(locks, store);
      assertThat(once.run("report", store.now().plus(Duration.ofMinutes(3)), lease -> {}))
          .isEqualTo(Result.NOT_DUE);
      assertThat(once.run("report", store.now().plusMillis(20), lease -> {}))
          .as("soon enough to wait for")
          .isEqualTo(Result.RAN);
      assertThat(store.history("report", 9))
          .singleElement()
          .satisfies(run -> assertThat(run.startedAt()).isAfterOrEqualTo(run.tick()));
    }
  }

  @Test
  void runWhoseSessionIsTerminatedIsLostAndMayBeRunAgain() {
    try (PostgresAdvisoryLocks locks = database.locks().build()) {
      PostgresLastRunStore store = PostgresLastRunStore.over(database.dataSource());
      assertThatThrownBy(
              () ->
                  OncePerTick.over(locks, store)
                      .run(
                          "report",
                          TICK,
                          lease -> {
                            database.execute(
                                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE"
                                    + " application_name LIKE 'lukko %'"
                                    + " AND datname = current_database()");
                            lease.lost().toCompletableFuture().join();
                          }))
          .isInstanceOf(LeaseLostException.class);
      assertThat(store.history("report", 1).get(0).outcome()).isEqualTo(Outcome.LOST);
      OncePerTick again = OncePerTick.builder(locks, store).rerunAfter(Outcome.LOST).build();
      assertThat(again.run("report", TICK, lease -> {})).isEqualTo(Result.RAN);
    }
  }
}
