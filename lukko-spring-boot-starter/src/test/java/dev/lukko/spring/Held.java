package dev.lukko.spring;

import dev.lukko.Lease;
import dev.lukko.LockClient;
import java.time.Duration;
import java.util.Optional;

/** Whether somebody holds a lock. */
public final class Held {
  private Held() {}

  public static boolean isHeld(LockClient locks, String name) {
    Optional<Lease> free = locks.tryAcquire(name, Duration.ofSeconds(10));
    free.ifPresent(Lease::release);
    return free.isEmpty();
  }
}
