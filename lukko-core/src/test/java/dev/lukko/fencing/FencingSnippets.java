package dev.lukko.fencing;

import dev.lukko.Lease;
import dev.lukko.LockClient;
import dev.lukko.LockRequest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** Code of the guide on fencing, here to be compiled. */
final class FencingSnippets {
  private final InMemoryFence fence = new InMemoryFence();

  void oneProcess(LockClient locks, Path report, String text) throws Exception {
    // begin one-process
    try (Lease lease = locks.acquire("report", Duration.ofSeconds(30))) {
      fence.run("report", lease.fencingToken(), () -> Files.writeString(report, text));
    }
    // end one-process
  }

  void severalResources(LockClient locks) {
    // begin several-resources
    LockRequest transfer =
        LockRequest.builder("account:7", "account:9").ttl(Duration.ofSeconds(30)).build();
    try (Lease lease = locks.acquire(transfer)) {
      fence.check(lease); // both accounts, one token
    }
    // end several-resources
  }
}
