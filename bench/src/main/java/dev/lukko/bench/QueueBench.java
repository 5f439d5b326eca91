package dev.lukko.bench;

import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.SchedulerName;
import com.github.kagkarlsson.scheduler.task.helper.OneTimeTask;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.lukko.postgres.LeasedRows;
import dev.lukko.postgres.PostgresSchema;
import dev.lukko.postgres.SkipLockedQueue;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.PrintStream;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;

/**
 * Rows drained by eight workers: the queue in both ways, a hand-written UPDATE ... SKIP LOCKED ...
 * RETURNING loop, and db-scheduler's lock-and-fetch. All on one server and one pool, in turns.
 */
final class QueueBench {
  private static final int WORKERS = 8;

  private final DataSource source;
  private final int rows;
  private final int batch;

  private QueueBench(DataSource source, int rows, int batch) {
    this.source = source;
    this.rows = rows;
    this.batch = batch;
  }

  /** A way to drain the rows; returns when the last is done. */
  @FunctionalInterface
  private interface Drain {
    void run() throws Exception;
  }

  static void run(PrintStream out, int slices, int rows, int batch) throws Exception {
    try (EmbeddedPostgres server = Postgres.start();
        HikariDataSource pool = pool(server)) {
      PostgresSchema.standard().create(pool);
      Postgres.execute(
          pool, "CREATE TABLE job (id bigserial PRIMARY KEY, picked bool, payload text)");
      Postgres.execute(pool, "CREATE INDEX job_free ON job (id) WHERE NOT picked");
      Postgres.execute(pool, SCHEDULED_TASKS);
      new QueueBench(pool, rows, batch).compare(out, slices);
    }
  }

  private void compare(PrintStream out, int slices) throws Exception {
    Map<String, Drain> subjects = new LinkedHashMap<>();
    subjects.put("by hand: UPDATE ... SKIP LOCKED ... RETURNING", this::byHand);
    subjects.put("Lukko, claim in a transaction", this::byClaim);
    subjects.put("Lukko, lease", this::byLease);
    if (batch == 1) {
      subjects.put("db-scheduler, fetches 1 for each worker", this::bySingleSchedulers);
      subjects.put("db-scheduler, fetches 8", this::byScheduler);
    } else {
      subjects.put("db-scheduler, fetches " + Math.max(8, batch * 4), this::byScheduler);
    }
    Map<String, List<Double>> rates = new LinkedHashMap<>();
    for (int slice = -1; slice < slices; slice++) { // The first warms up.
      for (Map.Entry<String, Drain> subject : subjects.entrySet()) {
        double rate = rate(subject.getValue());
        if (slice >= 0) {
          rates.computeIfAbsent(subject.getKey(), name -> new ArrayList<>()).add(rate);
        }
      }
    }
    out.printf(
        Locale.ROOT, "%n%d rows drained by %d workers, batches of %d%n", rows, WORKERS, batch);
    double first = median(rates.values().iterator().next());
    rates.forEach(
        (name, values) ->
            out.printf(
                Locale.ROOT,
                "  %-48s %8.0f rows/s  x %.2f  (%.0f to %.0f)%n",
                name,
                median(values),
                median(values) / first,
                values.stream().mapToDouble(Double::doubleValue).min().orElseThrow(),
                values.stream().mapToDouble(Double::doubleValue).max().orElseThrow()));
  }

  private static double median(List<Double> values) {
    return values.stream().sorted().toList().get(values.size() / 2);
  }

  private static HikariDataSource pool(EmbeddedPostgres server) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(Postgres.url(server));
    config.setUsername("postgres");
    config.setMaximumPoolSize(WORKERS + 8);
    return new HikariDataSource(config);
  }

  private double rate(Drain drain) throws Exception {
    Postgres.execute(source, "TRUNCATE job, lukko.queue, scheduled_tasks");
    String series = " FROM generate_series(1, " + rows + ") g";
    Postgres.execute(source, "INSERT INTO job (picked, payload) SELECT false, 'x'" + series);
    Postgres.execute(source, "INSERT INTO lukko.queue (queue, payload) SELECT 'q', 'x'" + series);
    Postgres.execute(
        source,
        "INSERT INTO scheduled_tasks (task_name, task_instance, execution_time, picked, version)"
            + " SELECT 'job', g::text, now(), false, 1"
            + series);
    for (String table : new String[] {"job", "lukko.queue", "scheduled_tasks"}) {
      Postgres.execute(source, "VACUUM ANALYZE " + table);
    }
    long start = System.nanoTime();
    drain.run();
    return rows / ((System.nanoTime() - start) / 1e9);
  }

  /** A worker's step; false when nothing was left. */
  @FunctionalInterface
  private interface Step {
    boolean run() throws Exception;
  }

  private static void inWorkers(Step step) throws InterruptedException {
    List<Thread> workers = new ArrayList<>();
    AtomicInteger failures = new AtomicInteger();
    for (int i = 0; i < WORKERS; i++) {
      Thread worker =
          new Thread(
              () -> {
                try {
                  while (step.run()) {
                    // On to the next batch.
                  }
                } catch (Exception failure) {
                  failures.incrementAndGet();
                  failure.printStackTrace();
                }
              },
              "worker-" + i);
      workers.add(worker);
      worker.start();
    }
    for (Thread worker : workers) {
      worker.join();
    }
    if (failures.get() > 0) {
      throw new IllegalStateException(failures + " workers failed");
    }
  }

  private void byHand() throws Exception {
    inWorkers(
        () -> {
          try (Connection connection = source.getConnection()) {
            List<Long> ids = take(connection);
            finish(connection, ids);
            return !ids.isEmpty();
          }
        });
  }

  private List<Long> take(Connection connection) throws SQLException {
    List<Long> ids = new ArrayList<>();
    try (PreparedStatement take =
        connection.prepareStatement(
            "UPDATE job SET picked = true WHERE id IN (SELECT id FROM job WHERE NOT picked ORDER"
                + " BY id LIMIT ? FOR UPDATE SKIP LOCKED) RETURNING id, payload")) {
      take.setInt(1, batch);
      try (ResultSet result = take.executeQuery()) {
        while (result.next()) {
          ids.add(result.getLong(1));
        }
      }
    }
    return ids;
  }

  private static void finish(Connection connection, List<Long> ids) throws SQLException {
    try (PreparedStatement finish =
        connection.prepareStatement("DELETE FROM job WHERE id = ANY (?)")) {
      finish.setArray(1, connection.createArrayOf("bigint", ids.toArray()));
      finish.executeUpdate();
    }
  }

  private void byClaim() throws Exception {
    try (SkipLockedQueue queue = SkipLockedQueue.over(source, "q")) {
      inWorkers(
          () -> {
            try (SkipLockedQueue.Claim claim = queue.claim(batch)) {
              claim.finishAll();
              claim.commit();
              return !claim.rows().isEmpty();
            }
          });
    }
  }

  private void byLease() throws Exception {
    try (SkipLockedQueue queue = SkipLockedQueue.over(source, "q")) {
      inWorkers(
          () -> {
            LeasedRows leased = queue.lease(batch, Duration.ofMinutes(1));
            leased.finishAll();
            return !leased.rows().isEmpty();
          });
    }
  }

  private void byScheduler() throws Exception {
    inSchedulers(1, WORKERS, Math.max(1.0, batch / (double) WORKERS * 4));
  }

  /** Eight workers that fetch one job at a time each. */
  private void bySingleSchedulers() throws Exception {
    inSchedulers(WORKERS, 1, 1.0);
  }

  private void inSchedulers(int schedulers, int threads, double fetchPerThread) throws Exception {
    CountDownLatch done = new CountDownLatch(rows);
    OneTimeTask<Void> task = Tasks.oneTime("job").execute((instance, context) -> done.countDown());
    List<Scheduler> started = new ArrayList<>();
    for (int i = 0; i < schedulers; i++) {
      Scheduler scheduler =
          Scheduler.create(source, task)
              .schedulerName(new SchedulerName.Fixed("worker-" + i))
              .threads(threads)
              .pollUsingLockAndFetch(0.5, fetchPerThread)
              .pollingInterval(Duration.ofMillis(100))
              .build();
      started.add(scheduler);
      scheduler.start();
    }
    try {
      done.await();
    } finally {
      started.forEach(Scheduler::stop);
    }
  }

  private static final String SCHEDULED_TASKS =
      """
      CREATE TABLE scheduled_tasks (
        task_name text NOT NULL,
        task_instance text NOT NULL,
        task_data bytea,
        execution_time timestamptz NOT NULL,
        picked boolean NOT NULL,
        picked_by text,
        last_success timestamptz,
        last_failure timestamptz,
        consecutive_failures int,
        last_heartbeat timestamptz,
        version bigint NOT NULL,
        priority smallint,
        PRIMARY KEY (task_name, task_instance)
      );
      CREATE INDEX execution_time_idx ON scheduled_tasks (execution_time);
      CREATE INDEX last_heartbeat_idx ON scheduled_tasks (last_heartbeat)
      """;
}
