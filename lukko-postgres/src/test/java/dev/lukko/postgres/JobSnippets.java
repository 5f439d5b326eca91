package dev.lukko.postgres;

import dev.lukko.LockClient;
import dev.lukko.schedule.LastRunStore;
import dev.lukko.schedule.OncePerTick;
import java.time.Duration;
import java.time.Instant;
import javax.sql.DataSource;

/** The code of the guide to jobs. */
abstract class JobSnippets {
  abstract void report(long fencingToken);

  abstract void sendInvoices(long fencingToken);

  void run(LockClient locks, DataSource dataSource, Instant scheduledAt) {
    // begin once-per-tick
    LastRunStore store = PostgresLastRunStore.over(dataSource);
    try (OncePerTick once = OncePerTick.over(locks, store)) {
      // In every replica, whenever its own scheduler fires.
      once.run("nightly-report", Duration.ofDays(1), lease -> report(lease.fencingToken()));

      // For cron schedules: the scheduled instant, which is the same in every replica.
      once.run("invoices", scheduledAt, lease -> sendInvoices(lease.fencingToken()));
    }
    // end once-per-tick
  }
}
