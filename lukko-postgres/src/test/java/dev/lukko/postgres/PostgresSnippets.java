package dev.lukko.postgres;

import dev.lukko.Lease;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;

/** The code of the guide to PostgreSQL. */
abstract class PostgresSnippets {
  interface Ledger {
    void post(String invoice, long fencingToken);
  }

  abstract Ledger ledger();

  abstract boolean running();

  abstract void send(QueueRow row, Connection connection) throws Exception;

  abstract void book(Connection connection, long fencingToken);

  void start(DataSource dataSource, String url, String user, String password, String invoice) {
    // begin postgres-start
    PostgresSchema.standard().create(dataSource); // Or put its ddl() into a migration.

    try (PostgresAdvisoryLocks locks = PostgresAdvisoryLocks.connect(url, user, password);
        Lease lease = locks.acquire("invoices", Duration.ofSeconds(30))) {
      ledger().post(invoice, lease.fencingToken());
    }
    // end postgres-start
  }

  void inTransaction(PostgresAdvisoryLocks locks, Connection connection) throws SQLException {
    // begin in-transaction
    connection.setAutoCommit(false);
    long token = locks.inTransaction(connection, "account:7");
    book(connection, token);
    connection.commit(); // Releases.
    // end in-transaction
  }

  void enqueue(SkipLockedQueue queue, Connection connection, String json) {
    // begin queue-enqueue
    QueueJob job = QueueJob.of(json).withPriority(5).withOrderingKey("customer:7");
    queue.enqueue(connection, job); // There if the transaction commits.
    // end queue-enqueue
  }

  void loop(DataSource dataSource) throws InterruptedException {
    // begin queue-loop
    try (SkipLockedQueue queue = SkipLockedQueue.over(dataSource, "mail")) {
      while (running()) {
        try (SkipLockedQueue.Claim claim = queue.claim(20)) {
          for (QueueRow row : claim.rows()) {
            claim.work(row, (mail, connection) -> send(mail, connection));
          }
          claim.commit();
          if (!claim.rows().isEmpty()) {
            continue;
          }
        }
        queue.awaitWork(Duration.ofSeconds(30));
      }
    }
    // end queue-loop
  }
}
