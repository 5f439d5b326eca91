package dev.lukko.jdbc;

import dev.lukko.Lease;
import dev.lukko.LockRequest;
import dev.lukko.redlock.Redlock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** A process of its own that wants the lock; started by {@link EmbeddedNodeTest}. */
final class EmbeddedContender {
  private EmbeddedContender() {}

  /** Increments the number in a file so many times, or takes the lock and dies with it. */
  public static void main(String[] arguments) throws Exception {
    Path numbers = Path.of(arguments[0]);
    int times = Integer.parseInt(arguments[1]);
    Redlock locks =
        Redlock.builder()
            .node(EmbeddedNode.open())
            .nodeTimeout(Duration.ofSeconds(5))
            .retryForever()
            .retryDelay(Duration.ofMillis(5))
            .retryJitter(Duration.ofMillis(10))
            .build();
    if (times == 0) {
      Lease lease = locks.acquire("dies", Duration.ofSeconds(2));
      Files.writeString(numbers, Long.toString(lease.fencingToken()));
      Runtime.getRuntime().halt(7);
    }
    LockRequest request =
        LockRequest.builder("counter")
            .ttl(Duration.ofSeconds(60))
            .maxWait(Duration.ofSeconds(100))
            .build();
    for (int i = 0; i < times; i++) {
      try (Lease lease = locks.acquire(request)) {
        String[] before = Files.readString(numbers).split(" ", 2);
        if (lease.fencingToken() <= Long.parseLong(before[1])) {
          throw new IllegalStateException(lease.fencingToken() + " after " + before[1]);
        }
        Files.writeString(numbers, (Integer.parseInt(before[0]) + 1) + " " + lease.fencingToken());
      }
    }
    locks.close();
  }
}
