package dev.lukko.postgres;

import java.sql.PreparedStatement;
import java.time.Duration;
import org.postgresql.ds.PGSimpleDataSource;

/** A worker in a process of its own: writes one effect for each row, and dies of poison. */
final class QueueWorkerMain {
  static final String POISON = "poison";
  static final int MAX_ATTEMPTS = 3;

  private QueueWorkerMain() {}

  static SkipLockedQueue queue(PGSimpleDataSource source) {
    return SkipLockedQueue.builder(source, "q9")
        .maxAttempts(MAX_ATTEMPTS)
        .backoff(Duration.ZERO, Duration.ZERO)
        .pollInterval(Duration.ofMillis(100))
        .build();
  }

  public static void main(String[] args) throws Exception {
    PGSimpleDataSource source = new PGSimpleDataSource();
    source.setUrl(args[0]);
    source.setUser("postgres");
    try (SkipLockedQueue queue = queue(source)) {
      while (true) {
        try (SkipLockedQueue.Claim claim = queue.claim(20);
            PreparedStatement effect =
                claim.connection().prepareStatement("INSERT INTO effect VALUES (?, ?)")) {
          for (QueueRow row : claim.rows()) {
            if (row.payload().equals(POISON)) {
              Runtime.getRuntime().halt(66);
            }
            effect.setLong(1, row.id());
            effect.setLong(2, ProcessHandle.current().pid());
            effect.addBatch();
          }
          effect.executeBatch();
          claim.finishAll();
          claim.commit();
          if (!claim.rows().isEmpty()) {
            continue;
          }
        }
        queue.awaitWork(Duration.ofSeconds(1));
      }
    }
  }
}
