package dev.lukko.redis;

import dev.lukko.Lease;
import dev.lukko.LockClient;
import dev.lukko.redlock.Redlock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Code of the README, here to be compiled. */
final class ReadmeSnippets {
  private final Ledger ledger = new Ledger();

  void lock() {
    // begin readme
    try (LockClient locks = Redlock.over(RedisNode.connect("redis://127.0.0.1:6379"))) {

      // Runs the body under the lock, extends it in the background, releases it at the end.
      locks.run(
          "invoices",
          Duration.ofSeconds(30),
          lease -> {
            for (Invoice invoice : pending()) {
              lease.ensureValid(); // local and cheap: asks no server
              ledger.post(invoice, lease.fencingToken()); // the ledger refuses an older token
            }
          });

      // Or by hand.
      Optional<Lease> lease = locks.tryAcquire("report", Duration.ofSeconds(10));
      if (lease.isPresent()) {
        try (Lease held = lease.get()) {
          held.onLost(reason -> stopWriting());
          writeReport();
        }
      }
    }
    // end readme
  }

  private record Invoice(String id) {}

  private static final class Ledger {
    void post(Invoice invoice, long fencingToken) {
      throw new UnsupportedOperationException(invoice.id() + fencingToken);
    }
  }

  private static List<Invoice> pending() {
    return List.of();
  }

  private static void stopWriting() {}

  private static void writeReport() {}
}
